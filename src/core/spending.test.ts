import { expect, it } from 'vitest'
import { contextOf, type Scripted, scripted } from '../../test/support/service.ts'
import type { Observation } from '../domain/observation.ts'
import { type Op, ops } from '../domain/operations.ts'
import type { Budgets } from './budget.ts'
import { spending } from './spending.ts'

interface Rig {
  readonly provider: Scripted
  readonly observations: Observation[]
  readonly reserved: readonly (readonly [bucket: string, limit: number, asker: string | undefined])[]
  readonly ask: (op: Op, identity?: string, isOwn?: boolean) => Promise<unknown>
}

function rig(isOwnKey: boolean, budget = { quotes: 60, create: 30, read: 120 }, granted = Number.POSITIVE_INFINITY): Rig {
  const reserved: [string, number, string | undefined][] = []
  const provider = scripted(() => reserved.length)
  const observations: Observation[] = []
  const observe = (observation: Observation): void => void observations.push(observation)
  const budgets: Budgets = {
    async reserve(bucket, limit, asker) {
      reserved.push([bucket, limit, asker])
      return { isGranted: reserved.length <= granted, remaining: 0, retryAfter: 42 }
    },
  }
  const service = spending({ budgets, provider: 'alpha', budget, isOwnKey, observe })(provider)
  return {
    provider,
    observations,
    reserved,
    ask: (op, identity, isOwn = false) => {
      const caller = { address: '2001:db8:1:2:3::1', ...(identity !== undefined && { identity }) }
      return service.call(op, {} as never, contextOf({ caller, isOwn })).catch((reason) => reason)
    },
  }
}

it('each call is paid for before it is sent, out of what is for clients, by account; all without a key are one asker', async () => {
  const { ask, reserved } = rig(true)
  for (const [at, op] of ops.entries()) expect(await ask(op, 'acme')).toBe(at + 1)
  await ask('getRate')
  expect(reserved).toEqual([
    ['alpha:quotes', 54, 'acme'],
    ['alpha:quotes', 54, 'acme'],
    ['alpha:create', 30, 'acme'],
    ['alpha:read', 108, 'acme'],
    ['alpha:read', 108, 'acme'],
    ['alpha:quotes', 54, 'anonymous'],
  ])
})

it("where the provider counts by the client's key, creates and reads are a budget of each key, and quotes are shared by address", async () => {
  const { ask, reserved } = rig(false)
  for (const op of ['getRate', 'createTransaction', 'listTransactions'] as const) await ask(op, 'key-1')
  expect(reserved).toEqual([
    ['alpha:quotes', 54, '2001:db8:1:2'],
    ['alpha:create:key-1', 30, undefined],
    ['alpha:read:key-1', 108, undefined],
  ])
})

it('R18: what the gateway reads of its own accord has a tenth for itself, and shares the rest beyond it', async () => {
  const { ask, reserved } = rig(true, undefined, 2)
  await ask('listCurrencies', undefined, true)
  await ask('listTransactions', undefined, true)
  await ask('listCurrencies', undefined, true)
  expect(reserved).toEqual([
    ['alpha:quotes:own', 6, undefined],
    ['alpha:read:own', 12, undefined],
    ['alpha:quotes:own', 6, undefined],
    ['alpha:quotes', 54, ''],
  ])
})

it('a budget below ten keeps nothing for the gateway, which then takes what is free', async () => {
  const { ask, reserved } = rig(true, { quotes: 9, create: 30, read: 9 })
  await ask('listCurrencies', undefined, true)
  await ask('listTransactions', 'acme')
  expect(reserved).toEqual([
    ['alpha:quotes', 9, undefined],
    ['alpha:read', 9, 'acme'],
  ])
})

it('used up: refused for certain, with the time to wait, and nothing is sent', async () => {
  const { ask, provider, observations } = rig(true, undefined, 1)
  observations.length = 0
  await ask('createTransaction', 'acme')
  const refusal = { kind: 'unavailable', retryAfter: 42, certain: true, elsewhere: true, provider: undefined }
  expect(await ask('createTransaction', 'acme')).toMatchObject(refusal)
  expect(provider.asked).toHaveLength(1)
  const seen = { what: 'budget', provider: 'alpha', policy: 'create', remaining: 0 }
  expect(observations).toEqual([seen, seen, { what: 'heldBack', provider: 'alpha', by: 'budget' }])
})

it.each([
  [true, ['quotes 54', 'create 30', 'read 108']],
  [false, ['quotes 54']],
])('what is left of each budget that is shared is known from the start (own key: %s)', (isOwnKey, left) => {
  const seen = rig(isOwnKey).observations.map((seen) => seen.what === 'budget' && `${seen.policy} ${seen.remaining}`)
  expect(seen).toEqual(left)
})

it('0 is no bound, and nothing is reserved', async () => {
  const { ask, reserved } = rig(true, { quotes: 0, create: 30, read: 0 })
  for (const op of ops) await ask(op, 'acme')
  expect(reserved).toEqual([['alpha:create', 30, 'acme']])
})
