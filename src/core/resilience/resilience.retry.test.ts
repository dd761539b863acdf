import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, type Scripted, scripted } from '../../../test/support/service.ts'
import { Fault, type FaultDetails, type FaultKind } from '../../domain/fault.ts'
import type { Observation } from '../../domain/observation.ts'
import { type Op, ops } from '../../domain/service.ts'
import { retry } from './resilience.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

interface Rig {
  readonly provider: Scripted
  readonly observations: readonly Observation[]
  readonly send: (op?: Op, overrides?: object) => Promise<unknown>
}

function rig(respond: (call: number) => unknown): Rig {
  const provider = scripted(respond)
  const observations: Observation[] = []
  const observe = (observation: Observation): void => void observations.push(observation)
  const service = retry(providerScope({ clock: () => performance.now(), random: () => 1, observe }))(provider)
  return {
    provider,
    observations,
    async send(op = 'getTransaction', overrides = {}) {
      const pending = service.call(op, {} as never, contextOf(overrides)).catch((reason) => reason)
      await vi.advanceTimersByTimeAsync(30)
      return pending
    },
  }
}

function fail(kind: FaultKind, details: FaultDetails = {}): never {
  throw new Fault(kind, 'no', details)
}

it.each(ops.filter((op) => op !== 'createTransaction'))('%s is sent once more after a failure, and no third time', async (op) => {
  const recovering = rig((call) => (call === 0 ? fail('failed') : 'well'))
  expect([await recovering.send(op), recovering.provider.calls.length]).toEqual(['well', 2])
  const failing = rig(() => fail('failed'))
  expect([await failing.send(op), failing.provider.calls.length]).toEqual([expect.any(Fault), 2])
})

it('a create is never sent twice', async () => {
  const { send, provider } = rig(() => fail('unreachable', { effect: 'nothingSent' }))
  await send('createTransaction')
  expect(provider.calls).toHaveLength(1)
})

it.each([
  ['invalid', { effect: 'refused' }],
  ['unauthorized', { effect: 'refused' }],
  ['notFound', { effect: 'refused' }],
  ['limited', { effect: 'refused' }],
  ['failed', { effect: 'refused' }], // another 4xx
  ['timedOut', {}],
  ['unavailable', { effect: 'nothingSent' }],
] as const)('a refused or late request is not retried: %s', async (kind, details) => {
  const { send, provider, observations } = rig(() => fail(kind, details))
  await send()
  expect(provider.calls).toHaveLength(1)
  expect(observations).toEqual([])
})

it('an unreachable provider or an unreadable response is retried', async () => {
  for (const kind of ['unreachable', 'unreadable'] as const) {
    const { send, provider } = rig(() => fail(kind, { effect: kind === 'unreachable' ? 'nothingSent' : 'maybe' }))
    await send()
    expect(provider.calls).toHaveLength(2)
  }
})

it('U2: there is no retry after the deadline', async () => {
  const { send, provider } = rig(() => fail('failed'))
  await send('getRate', { deadline: performance.now() + 24 })
  expect(provider.calls).toHaveLength(1)
})

it('if the gateway rejects the retry, the first failure is thrown', async () => {
  const { send } = rig((call) => fail(call === 0 ? 'failed' : 'unavailable', { effect: call > 0 ? 'nothingSent' : 'maybe' }))
  expect(await send()).toMatchObject({ kind: 'failed' })
})

it('U17: in a storm, extra calls are at most a fifth', async () => {
  const { send, provider, observations } = rig(() => fail('failed'))
  const failingCalls = 2_000
  for (let n = 0; n < failingCalls; n++) {
    void send()
    await vi.advanceTimersByTimeAsync(10)
  }
  await vi.advanceTimersByTimeAsync(100)
  const retries = provider.calls.length - failingCalls
  expect(retries).toBeGreaterThan(failingCalls * 0.15)
  expect(retries).toBeLessThanOrEqual(failingCalls * 0.2)
  expect(observations.filter((observation) => observation.what === 'retry' && observation.isMade)).toHaveLength(retries)
  expect(observations).toHaveLength(failingCalls)
})

it('one retry in a second is always allowed', async () => {
  const { send, provider } = rig(() => fail('failed'))
  for (let second = 0; second < 5; second++) {
    await send()
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(provider.calls).toHaveLength(10)
})
