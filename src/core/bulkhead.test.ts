import { expect, it } from 'vitest'
import { contextOf, type Scripted, scripted } from '../../test/support/service.ts'
import type { Observation } from '../domain/observation.ts'
import { bulkhead } from './bulkhead.ts'

interface Rig {
  readonly provider: Scripted
  readonly observations: readonly Observation[]
  /** What becomes of a call, by its number. */
  readonly ask: (deadline?: number) => Promise<unknown>
  /** Lets the n-th call to the provider end. */
  readonly end: (call: number, fails?: boolean) => void
}

function rig(patience: number): Rig {
  const ends: PromiseWithResolvers<unknown>[] = []
  const provider = scripted((call) => {
    ends[call] = Promise.withResolvers<unknown>()
    return ends[call].promise
  })
  const observations: Observation[] = []
  const observe = (observation: Observation): void => void observations.push(observation)
  const service = bulkhead({ provider: 'alpha', most: 2, mostWaiting: 2, patience, observe })(provider)
  return {
    provider,
    observations,
    ask: (deadline = performance.now() + 60_000) =>
      service.call('getTransaction', { id: 'tx-1' }, contextOf({ deadline })).catch((reason) => reason),
    end(call, fails = false) {
      if (fails) ends[call]?.reject(new Error('broke off'))
      else ends[call]?.resolve(call)
    },
  }
}

const full = { kind: 'unavailable', certain: true, elsewhere: true, retryAfter: 60 }

it('U19: so many at a time, some wait, and one more is refused at once and counted', async () => {
  const { ask, end, provider, observations } = rig(60_000)
  const asked = [ask(), ask(), ask(), ask()]
  expect(await ask()).toMatchObject(full)
  expect(observations).toEqual([{ what: 'heldBack', provider: 'alpha', by: 'bulkhead' }])
  expect(provider.asked).toHaveLength(2)
  end(0)
  end(1, true)
  await expect.poll(() => provider.asked.length, { interval: 1 }).toBe(4)
  end(2)
  end(3)
  expect(await Promise.all(asked)).toEqual([0, expect.any(Error), 2, 3])
})

it('whoever waits goes in the order in which they came, and none is forgotten', async () => {
  const { ask, end, provider } = rig(60_000)
  for (let round = 0; round < 5; round++) {
    const before = provider.asked.length
    const asked = [ask(), ask(), ask(), ask()]
    for (let call = before; call < before + 4; call++) {
      await expect.poll(() => provider.asked.length, { interval: 1 }).toBeGreaterThan(call)
      end(call)
    }
    expect(await Promise.all(asked)).toEqual([before, before + 1, before + 2, before + 3])
  }
})

it('U19: nobody waits longer than the patience, nor than his deadline', async () => {
  const impatient = rig(5)
  void impatient.ask()
  void impatient.ask()
  expect(await impatient.ask()).toMatchObject({ kind: 'unavailable', retryAfter: 1 })
  const patient = rig(60_000)
  void patient.ask()
  void patient.ask()
  expect(await patient.ask(performance.now() + 5)).toMatchObject(full)
  expect([impatient.provider.asked.length, patient.provider.asked.length]).toEqual([2, 2])
  patient.end(0)
  await expect.poll(() => patient.provider.asked.length, { interval: 1 }).toBe(2)
  void patient.ask()
  expect(patient.provider.asked).toHaveLength(3)
})
