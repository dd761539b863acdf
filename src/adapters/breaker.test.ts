import { expect, it } from 'vitest'
import type { Breaker, Ending } from '../core/breaker.ts'
import type { BreakerState } from '../domain/observation.ts'
import { circuit } from './breaker.ts'

interface Rig {
  readonly breaker: Breaker
  readonly states: readonly BreakerState[]
  /** Seconds. */
  readonly pass: (seconds: number) => void
  readonly end: (...endings: readonly Ending[]) => Promise<void>
}

function rig(random = 0): Rig {
  let now = 1_000_000
  const states: BreakerState[] = []
  const breaker = circuit({ clock: () => now, random: () => random, onState: (state) => void states.push(state) })
  return {
    breaker,
    states,
    pass: (seconds) => {
      now += seconds * 1000
    },
    async end(...endings) {
      for (const ending of endings) {
        const call = (): Promise<unknown> => (ending === 'answered' ? Promise.resolve() : Promise.reject(new Error(ending)))
        await breaker.run(call, () => ending).catch(() => {})
      }
    },
  }
}

const fails = (times: number): Ending[] => Array.from({ length: times }, () => 'failed')

it('gives back what the call gives, and throws what it throws', async () => {
  const { breaker } = rig()
  expect(
    await breaker.run(
      async () => 7,
      () => 'failed',
    ),
  ).toBe(7)
  for (const ending of ['answered', 'failed', 'unsaid'] as const) {
    const reason = new Error('mine')
    await expect(
      breaker.run(
        () => Promise.reject(reason),
        () => ending,
      ),
    ).rejects.toBe(reason)
  }
})

it('U15: opens after five failures in a row, not after four and an answer', async () => {
  const { breaker, end, states } = rig()
  await end(...fails(4), 'answered', ...fails(4), 'unsaid')
  expect(breaker.state()).toBe('closed')
  await end('failed')
  expect([breaker.state(), breaker.rest(), states]).toEqual(['open', 30_000, ['open']])
})

it('U15: rests 30 s, 60 s, 90 s … where it is not well again, and 300 s at most', async () => {
  const { breaker, end, pass } = rig()
  await end(...fails(5))
  const rests: number[] = []
  for (let opening = 0; opening < 12; opening++) {
    rests.push(breaker.rest() / 1000)
    pass(breaker.rest() / 1000)
    expect(breaker.rest()).toBe(0)
    await end('failed')
  }
  expect(rests).toEqual([30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300])
})

it('U15: leaves a tenth of a rest to chance, so that replicas do not come back at once', async () => {
  const { breaker, end } = rig(1)
  await end(...fails(5))
  expect(breaker.rest()).toBe(27_000)
})

it('U20: a provider that is well for moments rests longer each time', async () => {
  const { breaker, end, pass } = rig()
  const rests: number[] = []
  for (let flap = 0; flap < 4; flap++) {
    await end(...fails(5))
    rests.push(breaker.rest() / 1000)
    pass(breaker.rest() / 1000)
    await end('answered')
    expect(breaker.state()).toBe('closed')
    pass(2)
  }
  expect(rests).toEqual([30, 60, 90, 120])
})

it('forgets one opening for every 30 s that it stays closed', async () => {
  const { breaker, end, pass } = rig()
  await end(...fails(5))
  pass(30)
  await end('failed')
  pass(60)
  await end('answered')
  pass(61)
  await end(...fails(5))
  expect(breaker.rest()).toBe(30_000)
})

it('one call finds out: the state is half open as long as it takes', async () => {
  const { breaker, end, pass, states } = rig()
  await end(...fails(5))
  pass(30)
  const { promise, resolve } = Promise.withResolvers<void>()
  const probing: boolean[] = []
  const probe = breaker.run(
    () => promise.then(() => Promise.reject(new Error('late'))),
    (_, isProbe) => {
      probing.push(isProbe)
      return 'answered'
    },
  )
  expect(breaker.state()).toBe('halfOpen')
  resolve()
  await expect(probe).rejects.toThrow('late')
  expect([probing, states]).toEqual([[true], ['open', 'halfOpen', 'closed']])
})
