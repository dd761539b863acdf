import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { contextOf, type Scripted, scripted } from '../../test/support/service.ts'
import { Fault, type FaultDetails, type FaultKind } from '../domain/fault.ts'
import type { Observation } from '../domain/observation.ts'
import { type Op, ops } from '../domain/operations.ts'
import { retry } from './retry.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

interface Rig {
  readonly provider: Scripted
  readonly observations: readonly Observation[]
  readonly ask: (op?: Op, facts?: object) => Promise<unknown>
}

function rig(answer: (call: number) => unknown): Rig {
  const provider = scripted(answer)
  const observations: Observation[] = []
  const observe = (observation: Observation): void => void observations.push(observation)
  const service = retry({ provider: 'alpha', clock: () => performance.now(), random: () => 1, observe })(provider)
  return {
    provider,
    observations,
    async ask(op = 'getTransaction', facts = {}) {
      const answered = service.call(op, {} as never, contextOf(facts)).catch((reason) => reason)
      await vi.advanceTimersByTimeAsync(30)
      return answered
    },
  }
}

function fail(kind: FaultKind, details: FaultDetails = {}): never {
  throw new Fault(kind, 'no', details)
}

it.each(ops.filter((op) => op !== 'createTransaction'))('%s is sent once more where it failed, and no third time', async (op) => {
  const healing = rig((call) => (call === 0 ? fail('failed') : 'well'))
  expect([await healing.ask(op), healing.provider.asked.length]).toEqual(['well', 2])
  const failing = rig(() => fail('failed'))
  expect([await failing.ask(op), failing.provider.asked.length]).toEqual([expect.any(Fault), 2])
})

it('a create is never sent twice', async () => {
  const { ask, provider } = rig(() => fail('unreachable', { certain: true }))
  await ask('createTransaction')
  expect(provider.asked).toHaveLength(1)
})

it.each([
  ['invalid', { certain: true }],
  ['unauthorized', { certain: true }],
  ['notFound', { certain: true }],
  ['limited', { certain: true }],
  ['failed', { certain: true }], // another 4xx
  ['timedOut', {}],
  ['unavailable', { certain: true, elsewhere: true }],
] as const)('what is refused or late is not asked again: %s', async (kind, details) => {
  const { ask, provider, observations } = rig(() => fail(kind, details))
  await ask()
  expect(provider.asked).toHaveLength(1)
  expect(observations).toEqual([])
})

it('what could not be reached or read is asked again', async () => {
  for (const kind of ['unreachable', 'unreadable'] as const) {
    const { ask, provider } = rig(() => fail(kind, { certain: kind === 'unreachable' }))
    await ask()
    expect(provider.asked).toHaveLength(2)
  }
})

it('U2: there is no second try beyond the deadline', async () => {
  const { ask, provider } = rig(() => fail('failed'))
  await ask('getRate', { deadline: performance.now() + 24 })
  expect(provider.asked).toHaveLength(1)
})

it('where the second try is held back, the first failure is told', async () => {
  const { ask } = rig((call) => fail(call === 0 ? 'failed' : 'unavailable', { elsewhere: call > 0 }))
  expect(await ask()).toMatchObject({ kind: 'failed' })
})

it('U17: in a storm, extra calls are at most a fifth', async () => {
  const { ask, provider, observations } = rig(() => fail('failed'))
  const storm = 2_000
  for (let n = 0; n < storm; n++) {
    void ask()
    await vi.advanceTimersByTimeAsync(10)
  }
  await vi.advanceTimersByTimeAsync(100)
  const extra = provider.asked.length - storm
  expect(extra).toBeGreaterThan(storm * 0.15)
  expect(extra).toBeLessThanOrEqual(storm * 0.2)
  expect(observations.filter((seen) => seen.what === 'retry' && seen.isMade)).toHaveLength(extra)
  expect(observations).toHaveLength(storm)
})

it('one retry in a second is always allowed', async () => {
  const { ask, provider } = rig(() => fail('failed'))
  for (let second = 0; second < 5; second++) {
    await ask()
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(provider.asked).toHaveLength(10)
})
