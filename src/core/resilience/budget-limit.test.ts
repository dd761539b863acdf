import { expect, it, test } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, type Scripted, scripted } from '../../../test/support/service.ts'
import { Fault } from '../../domain/fault.ts'
import type { Observation } from '../../domain/observation.ts'
import { type Context, type Op, ops, type SwapService } from '../../domain/service.ts'
import { type Budgets, budgetLimit, ownReadLimit } from './budget-limit.ts'

interface Rig {
  readonly provider: Scripted
  readonly observations: Observation[]
  readonly reserved: readonly (readonly [bucket: string, limit: number, consumer: string | undefined])[]
  readonly send: (op: Op, identity?: string, isGatewayCall?: boolean) => Promise<unknown>
}

function rig(usesGatewayKey: boolean, rateLimit = { quotes: 60, create: 30, read: 120 }, granted = Number.POSITIVE_INFINITY): Rig {
  const reserved: [string, number, string | undefined][] = []
  const provider = scripted(() => reserved.length)
  const observations: Observation[] = []
  const observe = (observation: Observation): void => void observations.push(observation)
  const budgets: Budgets = {
    async reserve(bucket, limit, consumer) {
      reserved.push([bucket, limit, consumer])
      return { isGranted: reserved.length <= granted, remaining: 0, retryAfter: 42 }
    },
  }
  const scope = providerScope({ configured: { rateLimit }, usesGatewayKey, observe })
  const service = budgetLimit(scope, budgets)(provider)
  return {
    provider,
    observations,
    reserved,
    send: (op, identity, isGatewayCall = false) => {
      const caller = { address: '2001:db8:1:2:3::1', ...(identity !== undefined && { identity }) }
      return service.call(op, {} as never, contextOf({ caller, isGatewayCall })).catch((reason) => reason)
    },
  }
}

it("each call is reserved before it is sent, in the clients' part, by account; all without a key are one consumer", async () => {
  const { send, reserved } = rig(true)
  for (const [at, op] of ops.entries()) expect(await send(op, 'acme')).toBe(at + 1)
  await send('getRate')
  expect(reserved).toEqual([
    ['alpha:quotes', 54, 'acme'],
    ['alpha:quotes', 54, 'acme'],
    ['alpha:create', 30, 'acme'],
    ['alpha:read', 108, 'acme'],
    ['alpha:read', 108, 'acme'],
    ['alpha:quotes', 54, 'anonymous'],
  ])
})

it("if the provider counts by the client's key, creates and reads have a budget per key, and quotes are shared by address", async () => {
  const { send, reserved } = rig(false)
  for (const op of ['getRate', 'createTransaction', 'listTransactions'] as const) await send(op, 'key-1')
  expect(reserved).toEqual([
    ['alpha:quotes', 54, '2001:db8:1:2'],
    ['alpha:create:key-1', 30, undefined],
    ['alpha:read:key-1', 108, undefined],
  ])
})

it("R18: the gateway's own reads have a tenth for themselves, and share the rest beyond it", async () => {
  const { send, reserved } = rig(true, undefined, 2)
  await send('listCurrencies', undefined, true)
  await send('listTransactions', undefined, true)
  await send('listCurrencies', undefined, true)
  expect(reserved).toEqual([
    ['alpha:quotes:own', 6, undefined],
    ['alpha:read:own', 12, undefined],
    ['alpha:quotes:own', 6, undefined],
    ['alpha:quotes', 54, ''],
  ])
})

it('a budget below ten has no reserve for the gateway, which then uses free calls', async () => {
  const { send, reserved } = rig(true, { quotes: 9, create: 30, read: 9 })
  await send('listCurrencies', undefined, true)
  await send('listTransactions', 'acme')
  expect(reserved).toEqual([
    ['alpha:quotes', 9, undefined],
    ['alpha:read', 9, 'acme'],
  ])
})

it('a used-up budget rejects with the time to wait, and nothing is sent', async () => {
  const { send, provider, observations } = rig(true, undefined, 1)
  observations.length = 0
  await send('createTransaction', 'acme')
  const refusal = { kind: 'unavailable', retryAfter: 42, effect: 'nothingSent', provider: undefined }
  expect(await send('createTransaction', 'acme')).toMatchObject(refusal)
  expect(provider.calls).toHaveLength(1)
  const used = { what: 'budget', provider: 'alpha', policy: 'create', remaining: 0 }
  expect(observations).toEqual([used, used, { what: 'localRejection', provider: 'alpha', by: 'budget' }])
})

it.each([
  [true, ['quotes 54', 'create 30', 'read 108']],
  [false, ['quotes 54']],
])('the remaining calls of each shared budget are reported from the start (own key: %s)', (usesGatewayKey, left) => {
  const remaining = rig(usesGatewayKey).observations.map(
    (observation) => observation.what === 'budget' && `${observation.policy} ${observation.remaining}`,
  )
  expect(remaining).toEqual(left)
})

it('0 is no bound, and nothing is reserved', async () => {
  const { send, reserved } = rig(true, { quotes: 0, create: 30, read: 0 })
  for (const op of ops) await send(op, 'acme')
  expect(reserved).toEqual([['alpha:create', 30, 'acme']])
})

const next = { call: async () => ({ body: { items: [], total: 0 } }) } as unknown as SwapService

function limited(limit: number) {
  let now = 0
  const service = ownReadLimit(limit, () => now)(next)
  const call = (identity?: string): Promise<unknown> =>
    service.call('getTransaction', { id: 'x' }, { caller: { address: '', identity } } as Context).then(
      () => 'passed',
      (reason) => Fault.from(reason),
    )
  const wait = (ms: number): void => {
    now += ms
  }
  return { call, wait }
}

test.each([
  [120, 60],
  [5, 3],
  [1, 1],
])('L26: of a budget of %i, own reads use %i in any 60 seconds', async (limit, share) => {
  const { call, wait } = limited(limit)
  for (let at = 0; at < share; at++) expect(await call()).toBe('passed')
  wait(20_000)
  expect(await call()).toMatchObject({ kind: 'unavailable', effect: 'refused', unavailableCause: 'budget', retryAfter: 40 })
  wait(39_999)
  expect(await call()).toMatchObject({ kind: 'unavailable', retryAfter: 1 })
  wait(1)
  expect(await call()).toBe('passed')
})

test('each key has its own share if each has its own budget', async () => {
  const { call } = limited(2)
  expect(await call('one')).toBe('passed')
  expect(await call('one')).toBeInstanceOf(Fault)
  expect(await call('two')).toBe('passed')
})

test('a provider without a budget has no share', async () => {
  const { call } = limited(0)
  for (let at = 0; at < 500; at++) expect(await call()).toBe('passed')
})
