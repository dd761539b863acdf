/**
 * Each row that a provider's form can have, with each of its members, goes through what reads lists: the search for lost creates
 * (docs/contract-operators.md §10.2), `ledger rebuild` (docs/contract-operators.md §10.6), and the comparison of a report with what is stored.
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAssetNaming } from '../../src/core/assets/asset-naming.ts'
import { ListScans } from '../../src/core/creation/list-scan.ts'
import { OtherDeposits } from '../../src/core/creation/other-deposits.ts'
import { mayBecomePayable } from '../../src/core/creation/payable.ts'
import { reconcile } from '../../src/core/creation/reconcile.ts'
import { createService } from '../../src/core/layer.ts'
import { rebuild } from '../../src/core/operations/restore.ts'
import type { Ledger, UnresolvedCreate } from '../../src/core/ports/ledger.ts'
import type { FoundOrder, RestoreStore } from '../../src/core/ports/restores.ts'
import { discrepanciesOf } from '../../src/core/same-swap.ts'
import type { Amount } from '../../src/domain/amount.ts'
import { AssetTable } from '../../src/domain/asset.ts'
import { instantsOf } from '../../src/domain/instant.ts'
import type { Observation } from '../../src/domain/observation.ts'
import type { Transaction } from '../../src/domain/swap.ts'
import { providerFormNamed } from '../../src/forms/index.ts'
import type { ProviderForm } from '../../src/wire/provider-form.ts'
import { providerScope } from '../support/provider-scope.ts'
import { callProvider, expecting } from './connected.ts'
import { readProviderGoldens } from './golden.ts'
import { providerPromises } from './promises.ts'

/** As the form decodes them: of a get, and of a list where the provider has one, in every status. */
async function rowsOf(name: string, form: ProviderForm): Promise<readonly Transaction[]> {
  const rows: Transaction[] = []
  for (const { request, exchanges, outcome, settings } of readProviderGoldens(name)) {
    if (outcome.fault !== undefined || exchanges.length === 0) continue
    if (request.op !== 'getTransaction' && request.op !== 'listTransactions') continue
    const { outcome: made } = await callProvider(form, request, settings, expecting(exchanges).answer)
    if ('fault' in made) throw made.fault
    const body = made.body as Transaction | { readonly items: readonly Transaction[] }
    rows.push(...('items' in body ? body.items : [body]))
  }
  return rows
}

const never = (): never => {
  throw new Error('not called')
}
/** Nothing of it is the sought create's. */
const sought: UnresolvedCreate = {
  intent: 'intent-1',
  owner: 'acme',
  provider: 'alpha',
  requested: { coinFrom: 'NO', coinTo: 'SUCH', amountIn: '1' as Amount, withdrawalAddress: 'nowhere', rateType: 'float' },
  attemptedAt: Date.parse('2026-07-29T14:00:00Z'),
  checkCount: 0,
  nextCheckAt: 0,
}

function readerOf({ capabilities }: ProviderForm, rows: readonly Transaction[]) {
  const service = createService({
    getRate: never,
    listCurrencies: never,
    createTransaction: never,
    listTransactions: async ({ page }) => ({ body: { items: page === 1 ? rows : [], total: rows.length } }),
    getTransaction: async ({ id }) => ({ body: rows.find((row) => row.id === id) as Transaction }),
  })
  const destination = { url: 'https://one.test', form: 'A', timezone: 'UTC', account: null, key: null }
  const policies = {
    depositAddress: 'refuse',
    depositMemo: 'refuse',
    amount: 'refuse',
    contract: 'refuse',
    network: 'refuse',
  } as const
  const naming = createAssetNaming(new AssetTable([]), { byCode: false }, new Map())
  return {
    service,
    capabilities,
    naming,
    mayBecomePayable: mayBecomePayable(
      { ...providerScope().configured, judge: policies },
      providerScope({ currencyList: { naming } }).currencyList,
    ),
    destination,
    policies,
  }
}

async function search(form: ProviderForm, rows: readonly Transaction[]): Promise<readonly Observation[]> {
  const observations: Observation[] = []
  const ledger = {
    dropUnquoted: async () => {},
    dueCreates: async () => [sought],
    dueRefusedCreates: async () => [],
    beginCheck: async (create: UnresolvedCreate) => create,
    scheduleNextCheck: async () => true,
    unresolvedBetween: async () => [sought],
    unresolvedElsewhere: async () => [],
    existingIds: async () => new Set(),
  } as unknown as Ledger
  await reconcile({
    ledger,
    journal: ledger,
    deferredResults: { isDeferred: () => false },
    readers: new Map([['alpha', readerOf(form, rows)]]),
    scans: new ListScans(),
    lookMs: new Map(),
    searching: new Set(),
    otherDeposits: new OtherDeposits({ depositHolder: async () => undefined }, () => undefined),
    windowMs: 86_400_000,
    timelines: { note: () => {} },
    clock: () => sought.attemptedAt + 5_000,
    observe: (observation) => void observations.push(observation),
  })
  return observations
}

/** What the ledger keeps of each order, as it has it: JSON. */
async function rebuilt(form: ProviderForm, rows: readonly Transaction[]): Promise<ReadonlyMap<string, FoundOrder>> {
  const kept = new Map<string, FoundOrder>()
  const store = {
    read: async () => [{ provider: 'alpha', restoredAt: 1, undecided: 0, holds: true }],
    undecided: async () => [],
    missing: async (_: string, ids: readonly string[]) => ids,
    keep: async (orders: readonly FoundOrder[]) => {
      for (const order of orders) kept.set(order.id, JSON.parse(JSON.stringify(order)) as FoundOrder)
    },
    markRead: async () => true,
    accountIds: async () => [],
  } as unknown as RestoreStore
  const ports = {
    store,
    reader: readerOf(form, rows),
    isIntentIdOf: () => false,
    wait: never,
    report: () => {},
    actor: 'test',
  }
  expect(await rebuild('alpha', ports)).toMatchObject({ outcome: 'done', missing: rows.length })
  return kept
}

describe.each(Object.keys(providerPromises))('the rows of the provider form %s', (name) => {
  const form = providerFormNamed(name)

  it('each end a search without a failure, are kept whole by a rebuild, and are their own swap', async () => {
    const all = await rowsOf(name, form)
    const members = new Set(all.flatMap((row) => Object.keys(row)))
    /** With the members of any row, each there or not, and an id of its own. */
    const row = fc
      .record(
        Object.fromEntries([...members].map((member) => [member, fc.constantFrom(...all.map((each) => each[member as 'id']))])),
        { requiredKeys: ['amountIn', 'createdAt'] },
      )
      .map((fields) => fields as unknown as Transaction)
    const property = fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (drawn) => {
      const rows = drawn.map((each, at) => ({ ...each, id: `id-${at}` }))
      // One that has no time that can be read is not there.
      expect(rows.every(({ createdAt }) => instantsOf(createdAt).length > 0)).toBe(true)
      const observed = await search(form, rows)
      expect(observed.filter(({ what }) => what === 'search')).toMatchObject([{ result: 'read' }])
      const orders = await rebuilt(form, rows)
      for (const each of rows) {
        const listed = JSON.parse(JSON.stringify(each))
        expect(orders.get(each.id)).toMatchObject({ hasDetails: true, reports: [listed, listed] })
        expect(discrepanciesOf({ transaction: listed }, each)).toEqual({ rejected: [], accepted: [] })
      }
    })
    await fc.assert(property, { numRuns: 50 })
  })

  it('are of swaps that wait, that are paid, and that have failed or came back', async () => {
    const all = await rowsOf(name, form)
    const statuses = new Set(all.map(({ status }) => status))
    expect([...statuses]).toEqual(expect.arrayContaining(['wait', 'exchanging', 'success']))
    expect(all.some(({ attention, status }) => attention !== undefined || status === 'refunded')).toBe(true)
  })
})
