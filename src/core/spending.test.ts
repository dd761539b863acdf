import { expect, it } from 'vitest'
import { contextOf, type Scripted, scripted } from '../../test/support/service.ts'
import type { Observation } from '../domain/observation.ts'
import { type Op, ops } from '../domain/operations.ts'
import type { Budgets } from './budget.ts'
import { spending } from './spending.ts'

interface Rig {
  readonly provider: Scripted
  readonly observations: readonly Observation[]
  readonly reserved: readonly (readonly [bucket: string, limit: number, caller: string])[]
  readonly ask: (op: Op, identity?: string) => Promise<unknown>
}

function rig(isPerKey: boolean, budget = { quotes: 60, create: 30, read: 120 }, granted = Number.POSITIVE_INFINITY): Rig {
  const reserved: [string, number, string][] = []
  const provider = scripted(() => reserved.length)
  const observations: Observation[] = []
  const observe = (observation: Observation): void => void observations.push(observation)
  const budgets: Budgets = {
    async reserve(...asked) {
      reserved.push(asked)
      return { isGranted: reserved.length <= granted, remaining: 0, retryAfter: 42 }
    },
  }
  const service = spending({ budgets, provider: 'alpha', budget, isPerKey, observe })(provider)
  return {
    provider,
    observations,
    reserved,
    ask: (op, identity) => {
      const caller = { address: '2001:db8:1:2:3::1', ...(identity !== undefined && { identity }) }
      return service.call(op, {} as never, contextOf({ caller })).catch((reason) => reason)
    },
  }
}

it('each call is paid for before it is sent, out of its row, by whoever asks', async () => {
  const { ask, reserved } = rig(false)
  for (const [at, op] of ops.entries()) expect(await ask(op, 'acme')).toBe(at + 1)
  await ask('getRate')
  expect(reserved).toEqual([
    ['alpha:quotes', 60, 'acme'],
    ['alpha:quotes', 60, 'acme'],
    ['alpha:create', 30, 'acme'],
    ['alpha:read', 120, 'acme'],
    ['alpha:read', 120, 'acme'],
    ['alpha:quotes', 60, '2001:db8:1:2'],
  ])
})

it("where the provider counts by the client's key, creates and reads have a budget for each key; quotes have one", async () => {
  const { ask, reserved } = rig(true)
  for (const op of ['getRate', 'createTransaction', 'listTransactions'] as const) await ask(op, 'key-1')
  expect(reserved.map(([bucket]) => bucket)).toEqual(['alpha:quotes', 'alpha:create:key-1', 'alpha:read:key-1'])
})

it('used up: refused for certain, with the time to wait, and nothing is sent', async () => {
  const { ask, provider, observations } = rig(false, undefined, 1)
  await ask('createTransaction', 'acme')
  const refusal = { kind: 'unavailable', retryAfter: 42, certain: true, elsewhere: true, provider: undefined }
  expect(await ask('createTransaction', 'acme')).toMatchObject(refusal)
  expect(provider.asked).toHaveLength(1)
  const seen = { what: 'budget', provider: 'alpha', policy: 'create', remaining: 0 }
  expect(observations).toEqual([seen, seen, { what: 'heldBack', provider: 'alpha', by: 'budget' }])
})

it('0 is no bound, and nothing is reserved', async () => {
  const { ask, reserved } = rig(false, { quotes: 0, create: 30, read: 0 })
  for (const op of ops) await ask(op, 'acme')
  expect(reserved).toEqual([['alpha:create', 30, 'acme']])
})
