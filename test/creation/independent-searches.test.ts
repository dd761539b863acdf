/** docs/contract-operators.md §10.2: the search at one provider waits neither for that at another one nor for a look at actions. */
import { afterEach, expect, test, vi } from 'vitest'
import type { ActionParts } from '../../src/core/actions/act.ts'
import { lookForActions } from '../../src/core/actions/look.ts'
import type { StoredSwapAction } from '../../src/core/ports/swap-actions.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'

let managed: Managed | undefined
afterEach(() => managed?.close())

test('a provider that does not answer its list holds up no other, and is asked once', async () => {
  const routing = { providers: ['alpha', 'beta'], pick: ['alpha', 'beta'] }
  managed = await startManaged({ sections: { routing } })
  const { alpha, beta, gateway } = managed
  const key = await managed.issue()
  const client = managed.client('A')
  const create = (provider: string) =>
    client.post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': provider, 'x-swap-provider': provider } })
  loseResponses(alpha, { refundAddress: null })
  loseResponses(beta, { refundAddress: null, depositAddress: 'bc1q-deposit-at-beta' })
  expectRefusal(await create('alpha'), 'A', 504)
  const listed = Promise.withResolvers<void>()
  alpha.reply('list', { after: listed.promise, status: 500, json: {} })
  const first = lookNow(gateway)
  await vi.waitUntil(() => alpha.received('list').length > 0, { timeout: eventTimeoutMs })
  expectRefusal(await create('beta'), 'A', 504)
  await lookNow(gateway)
  expect(outcomesOf(gateway).at(-1)).toBe('found')
  expect((await create('beta')).status).toBe(201)
  expect(alpha.received('list')).toHaveLength(1)
  alpha.reply('list', () => undefined)
  listed.resolve()
  await first
  await lookNow(gateway)
  expect((await create('alpha')).status).toBe(201)
})

test('a look at an action that hangs holds up only those at its provider, and only the next of them', async () => {
  const action = (claim: string, provider: string): StoredSwapAction =>
    ({
      claim,
      provider,
      id: claim,
      owner: 'acme',
      action: 'refundTransaction',
      state: 'sent',
      checkCount: 0,
      claimedAt: 0,
    }) as never
  const all = [action('a1', 'slow'), action('a2', 'slow'), action('b1', 'fast'), action('b2', 'fast')]
  const hanging = Promise.withResolvers<undefined>()
  const found: string[] = []
  const parts = {
    providers: new Map(['slow', 'fast'].map((tag) => [tag, { scope: { state: 'active' } }])),
    store: {
      dueActions: async (_: number, __: number, busy: readonly string[]) => all.filter(({ provider }) => !busy.includes(provider)),
      scheduleNextActionCheck: async () => true,
    },
    ledger: {
      find: (_: string, provider: string, id: string) => {
        found.push(id)
        return provider === 'slow' ? hanging.promise : Promise.resolve(undefined)
      },
    },
    clock: () => 0,
  } as unknown as ActionParts
  const busy = new Set<string>()
  const first = lookForActions(1, busy, parts)
  await vi.waitUntil(() => found.includes('b2'), { timeout: eventTimeoutMs })
  expect(found).toEqual(expect.arrayContaining(['a1', 'b1', 'b2']))
  expect(found).not.toContain('a2')
  found.length = 0
  await lookForActions(1, busy, parts)
  expect(found).toEqual(['b1', 'b2'])
  hanging.resolve(undefined)
  await first
  expect(found).toContain('a2')
  expect(busy.size).toBe(0)
})
