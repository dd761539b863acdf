/** docs/contract-operators.md §10.5: a create of unknown outcome whose provider leads elsewhere by now never ends as not created. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { ledgerWarnings } from '../../src/process/warnings.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'

const sections = { ledger: { reconcileFor: 1 }, routing: { providers: ['alpha'] } }
let managed: Managed
let key: string
let other: ProviderA | undefined
let jumpMs = 0
afterEach(async () => {
  await managed.close()
  await other?.close()
  other = undefined
  jumpMs = 0
})

/** Looks are as late as the window is long. */
function jumping(own: Ledger): Ledger {
  const due: Ledger['dueCreates'] = async (...query) =>
    (await own.dueCreates(...query)).map((open) => ({ ...open, attemptedAt: open.attemptedAt - jumpMs }))
  return { ...own, dueCreates: due }
}

const create = (): Promise<ReceivedResponse> =>
  managed.client('A').post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': 'order' } })

/** A create that the provider made, or did not make, of which nothing is known. */
async function lose(before: object, made = true): Promise<void> {
  managed = await startManaged({ sections, providers: { alpha: before }, ledgerLayer: jumping })
  key = await managed.issue()
  if (made) loseResponses(managed.alpha)
  else managed.alpha.reply('create', { reset: true })
  expectRefusal(await create(), 'A', 504)
}
const become = (after: object): void => managed.reconfigure({ sections, providers: { alpha: after } })
const lastLook = async (): Promise<string | undefined> => {
  jumpMs = 1_000
  await lookNow(managed.gateway)
  return outcomesOf(managed.gateway).at(-1)
}

describe('L153: after a change of', () => {
  test.each<[string, object, () => object]>([
    ['the URL', {}, () => ({ url: other?.url })],
    ['the key', {}, () => ({ key: 'another-key' })],
    ['the key and the account', { account: 'one' }, () => ({ account: 'two', key: 'another-key' })],
    ['the account', { account: 'one' }, () => ({ account: 'two' })],
    ['the key, while only now an account is named', {}, () => ({ account: 'one', key: 'another-key' })],
    ['the zone', {}, () => ({ timezone: '+08:00' })],
    ['the key for lists', { listKey: 'list-key' }, () => ({ listKey: 'another-list-key' })],
    ['the key for lists, which had been the other one', {}, () => ({ listKey: 'another-list-key' })],
  ])('%s it waits for a person', async (_, before, after) => {
    other = await startFormA()
    await lose(before, false)
    become(after())
    expect(await lastLook()).toBe('ambiguous')
    expectRefusal(await create(), 'A', 409)
    expect(await managed.gateway.ledgerAdmin.unresolved()).toMatchObject([{ state: 'unknown' }])
    managed.reconfigure({ sections, providers: { alpha: before } })
    expect(await lastLook()).toBe('notCreated')
  })

  test.each<[string, object, object]>([
    ['the key of a named account', { account: 'one' }, { account: 'one', key: 'another-key' }],
    ['the key for lists of a named account', { account: 'one' }, { account: 'one', listKey: 'another-list-key' }],
    ['the budget', {}, { rateLimit: { quotes: 5 } }],
    ['the slash at the end of the URL', {}, {}],
  ])('%s it ends as not created', async (what, before, after) => {
    await lose(before, false)
    become(what.includes('slash') ? { url: `${managed.alpha.url}/` } : after)
    expect(await lastLook()).toBe('notCreated')
  })

  test('the URL a sole match still binds it', async () => {
    await lose({})
    other = await startFormA()
    other.holdings.swaps = managed.alpha.holdings.swaps
    become({ url: other.url })
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('found')
  })
})

test('L153: the change says how many there are, and what changed', async () => {
  await lose({})
  const destinationCounts = await managed.gateway.ledgerAdmin.destinationCounts()
  const { config } = managed.gateway
  const [alpha] = config.providers
  if (!alpha) throw new Error('There is no provider.')
  const warn = (facts: object) => ledgerWarnings({ ...config, providers: [{ ...alpha, ...facts }] }, { destinationCounts })
  expect(warn({})).toEqual([])
  expect(warn({ url: 'https://elsewhere.test', key: 'another-key' })).toEqual([
    'providers.alpha: 1 create of unknown outcome was sent with another URL, key: none ends as not created now; what is found here is bound, and the rest waits for a person (swapgate ledger unknown)',
  ])
  expect(JSON.stringify(destinationCounts)).not.toContain('provider-key')
})
