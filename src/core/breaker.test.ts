import { expect, it } from 'vitest'
import { contextOf, type Scripted, scripted } from '../../test/support/service.ts'
import { circuit } from '../adapters/breaker.ts'
import { Fault, type FaultDetails, type FaultKind } from '../domain/fault.ts'
import type { Observation } from '../domain/observation.ts'
import type { SwapService } from '../domain/operations.ts'
import { breaking } from './breaker.ts'
import { stack } from './layer.ts'

interface Rig {
  readonly service: SwapService
  readonly provider: Scripted
  readonly observations: readonly Observation[]
  readonly pass: (seconds: number) => void
}

const timeout = 10_000

function rig(answer: (call: number) => unknown): Rig {
  let now = 0
  const observations: Observation[] = []
  const provider = scripted(answer)
  const breaker = circuit({ clock: () => now, random: () => 0, onState: () => {} })
  const observe = (observation: Observation): void => void observations.push(observation)
  const { admission, count } = breaking({ breaker, provider: 'alpha', timeout, observe })
  return {
    service: stack([admission, count], provider),
    provider,
    observations,
    pass: (seconds) => {
      now += seconds * 1000
    },
  }
}

const get = ({ service }: Rig, facts = {}): Promise<unknown> =>
  service.call('getTransaction', { id: 'tx-1' }, contextOf(facts)).catch((reason) => reason)
const create = ({ service }: Rig): Promise<unknown> =>
  service.call('createTransaction', {} as never, contextOf()).catch((reason) => reason)

function throwing(kind: FaultKind, details: FaultDetails = {}): () => never {
  return () => {
    throw new Fault(kind, 'no', details)
  }
}

async function askFive(made: Rig, facts = {}): Promise<void> {
  for (let n = 0; n < 5; n++) await get(made, facts)
}

it.each([
  ['cannot be reached', 'unreachable', { certain: true }],
  ['resets or answers 5xx', 'failed', {}],
  ['lies', 'unreadable', { provider: 'alpha' }],
  ['is silent', 'timedOut', {}],
] as const)('U15: a provider that %s five times is not asked the sixth time', async (_, kind, details) => {
  const made = rig(throwing(kind, details))
  await askFive(made)
  const refusal = (await get(made)) as Fault
  expect(made.provider.asked).toHaveLength(5)
  expect(refusal).toMatchObject({ kind: 'unavailable', retryAfter: 30, certain: true, elsewhere: true, provider: undefined })
  expect(made.observations).toEqual([{ what: 'heldBack', provider: 'alpha', by: 'breaker' }])
})

it.each([
  ['invalid', { provider: 'alpha', certain: true }],
  ['notFound', { provider: 'alpha', certain: true }],
  ['unauthorized', { provider: 'alpha', certain: true }],
  ['limited', { provider: 'alpha', certain: true }],
  ['failed', { provider: 'alpha', certain: true }], // another 4xx
  ['invalid', { certain: true }], // never sent
] as const)('U18: a thousand refusals (%s, %o) leave the breaker closed', async (kind, details) => {
  const made = rig(throwing(kind, details))
  for (let n = 0; n < 1_000; n++) await get(made)
  expect(made.provider.asked).toHaveLength(1_000)
})

it('a question that had less than a fifth of the time says nothing of a silent provider', async () => {
  const made = rig(throwing('timedOut'))
  for (let n = 0; n < 10; n++) await get(made, { deadline: performance.now() + timeout * 0.19 })
  expect(made.provider.asked).toHaveLength(10)
})

it('U15: a read finds out, and a create after it goes up again', async () => {
  const made = rig((call) => (call < 5 ? throwing('failed')() : { body: {} }))
  await askFive(made)
  made.pass(30)
  expect(await get(made)).toEqual({ body: {} })
  expect(await create(made)).toEqual({ body: {} })
})

it('U15: a create never finds out: a question of the gateway does, without the key', async () => {
  const made = rig((call) => (call < 5 ? throwing('failed')() : { body: {} }))
  await askFive(made)
  made.pass(30)
  expect(await create(made)).toMatchObject({ kind: 'unavailable', retryAfter: 1, certain: true })
  expect(made.provider.asked.slice(5)).toMatchObject([{ op: 'listCurrencies', context: { caller: { address: '' } } }])
  await expect.poll(() => create(made), { interval: 1 }).toEqual({ body: {} })
})

it('U16: of many reads one finds out, and the others are refused at once', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const made = rig((call) => (call < 5 ? throwing('failed')() : promise))
  await askFive(made)
  made.pass(30)
  const finding = get(made)
  const others = await Promise.all(Array.from({ length: 20 }, () => get(made)))
  expect(others.every((reason) => reason instanceof Fault && reason.retryAfter === 1)).toBe(true)
  expect(made.provider.asked).toHaveLength(6)
  resolve({ body: {} })
  await finding
  expect(await get(made)).toEqual({ body: {} })
})

it('U15: the one who finds out and has to wait too long opens it again, whatever time he had', async () => {
  const made = rig((call) => throwing(call < 5 ? 'failed' : 'timedOut')())
  await askFive(made)
  made.pass(30)
  await get(made, { deadline: performance.now() + 10 })
  expect(await get(made)).toMatchObject({ kind: 'unavailable', retryAfter: 60 })
})
