import { expect, it } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, type Scripted, scripted } from '../../../test/support/service.ts'
import type { Observation } from '../../domain/observation.ts'
import { bulkhead, RoundRobinQueue } from './bulkhead.ts'

interface Rig {
  readonly provider: Scripted
  readonly observations: readonly Observation[]
  /** The results of the calls, by number. */
  readonly send: (deadline?: number) => Promise<unknown>
  /** Lets the n-th call to the provider end. */
  readonly end: (call: number, fails?: boolean) => void
}

function rig(queueTimeoutMs: number): Rig {
  const ends: PromiseWithResolvers<unknown>[] = []
  const provider = scripted((call) => {
    ends[call] = Promise.withResolvers<unknown>()
    return ends[call].promise
  })
  const observations: Observation[] = []
  const observe = (observation: Observation): void => void observations.push(observation)
  const service = bulkhead(providerScope({ observe }), { maxConcurrent: 2, maxQueued: 2, queueTimeoutMs })(provider)
  return {
    provider,
    observations,
    send: (deadline = performance.now() + 60_000) =>
      service.call('getTransaction', { id: 'tx-1' }, contextOf({ deadline })).catch((reason) => reason),
    end(call, fails = false) {
      if (fails) ends[call]?.reject(new Error('broke off'))
      else ends[call]?.resolve(call)
    },
  }
}

const full = { kind: 'unavailable', effect: 'nothingSent', retryAfter: 60 }

it('U19: calls above the bound wait, and one above the queue is rejected at once and counted', async () => {
  const { send, end, provider, observations } = rig(60_000)
  const calls = [send(), send(), send(), send()]
  expect(await send()).toMatchObject(full)
  expect(observations).toEqual([{ what: 'localRejection', provider: 'alpha', by: 'bulkhead' }])
  expect(provider.calls).toHaveLength(2)
  end(0)
  end(1, true)
  await expect.poll(() => provider.calls.length, { interval: 1 }).toBe(4)
  end(2)
  end(3)
  expect(await Promise.all(calls)).toEqual([0, expect.any(Error), 2, 3])
})

it('waiting calls go in order of arrival, and none is lost', async () => {
  const { send, end, provider } = rig(60_000)
  for (let round = 0; round < 5; round++) {
    const before = provider.calls.length
    const calls = [send(), send(), send(), send()]
    for (let call = before; call < before + 4; call++) {
      await expect.poll(() => provider.calls.length, { interval: 1 }).toBeGreaterThan(call)
      end(call)
    }
    expect(await Promise.all(calls)).toEqual([before, before + 1, before + 2, before + 3])
  }
})

it('U19: no call waits longer than queueTimeoutMs or its deadline', async () => {
  const shortTimeout = rig(5)
  void shortTimeout.send()
  void shortTimeout.send()
  expect(await shortTimeout.send()).toMatchObject({ kind: 'unavailable', retryAfter: 1 })
  const longTimeout = rig(60_000)
  void longTimeout.send()
  void longTimeout.send()
  expect(await longTimeout.send(performance.now() + 5)).toMatchObject(full)
  expect([shortTimeout.provider.calls.length, longTimeout.provider.calls.length]).toEqual([2, 2])
  longTimeout.end(0)
  await expect.poll(() => longTimeout.provider.calls.length, { interval: 1 }).toBe(2)
  void longTimeout.send()
  expect(longTimeout.provider.calls).toHaveLength(3)
})

it('gives each caller one turn in a round, whatever the others have put in', () => {
  const queue = new RoundRobinQueue<string>()
  for (const value of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(value.slice(0, 1), value)
  expect([queue.size, queue.firsts]).toEqual([6, ['a1', 'b1', 'c1']])
  const shifted = Array.from({ length: 4 }, () => queue.shift())
  queue.push('d', 'd1')
  expect([...shifted, queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual([
    'a1',
    'b1',
    'c1',
    'a2',
    'b2',
    'a3',
    'd1',
    undefined,
  ])
  expect([queue.size, queue.firsts]).toEqual([0, []])
})
