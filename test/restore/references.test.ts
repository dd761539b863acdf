/** docs/contract-operators.md §10.6: the reference of an order names the account that made it, where the provider shows one. */
import { expect, onTestFinished, test } from 'vitest'
import { createAssetNaming } from '../../src/core/assets/asset-naming.ts'
import type { TransactionReader } from '../../src/core/creation/match-create.ts'
import type { MayBecomePayable } from '../../src/core/creation/payable.ts'
import { assignOrder, rebuild } from '../../src/core/operations/restore.ts'
import type { RestoreStore } from '../../src/core/ports/restores.ts'
import { amountSizeOf } from '../../src/core/same-swap.ts'
import { AssetTable } from '../../src/domain/asset.ts'
import type { Transaction } from '../../src/domain/swap.ts'
import { formA } from '../../src/forms/a.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { intentIdOf, isIntentIdOf } from '../../src/provider/intent-id.ts'
import { amount, requested } from '../ledger/samples.ts'

async function open() {
  const stores = await openLedger('sqlite::memory:')
  onTestFinished(stores.close)
  for (const name of ['acme', 'other'])
    await stores.accounts.addKey({ id: name, name, createdAt: 0 }, `digest of ${name}`, 'tester')
  const acme = (await stores.accounts.findKeys(['digest of acme'])).get('digest of acme')?.identity ?? ''
  await stores.restores.mark(['alpha'], undefined, 'tester')
  return { store: stores.restores, acme }
}

const order = (id: string, reference?: string): Transaction => ({
  ...requested,
  amountIn: amount('0.5'),
  id,
  status: 'wait',
  createdAt: new Date().toISOString(),
  ...(reference !== undefined && { reference }),
})

/** A provider that shows references in its list, or only in a get. */
function readerOf(orders: readonly Transaction[], isInList = true): TransactionReader {
  const listed = orders.map(({ reference, ...row }) => (isInList && reference !== undefined ? { ...row, reference } : row))
  const service = {
    call: async (op: string, request: { readonly id?: string }) =>
      op === 'listTransactions'
        ? { body: { items: listed, total: listed.length } }
        : { body: orders.find(({ id }) => id === request.id) },
  }
  const capabilities = { pageSize: 20, requestFields: { listTransactions: new Set() } }
  return { service, capabilities, timezone: 'UTC' } as unknown as TransactionReader
}

async function found(store: RestoreStore, orders: readonly Transaction[], isInList = true) {
  const reader = readerOf(orders, isInList)
  const ports = { store, reader, isIntentIdOf, wait: async () => {}, report: () => {}, actor: 'tester' }
  expect((await rebuild('alpha', ports)).outcome).toBe('done')
  return (await store.undecided()).map(({ id, account }) => [id, account]).toSorted()
}

test.each([true, false])('an order names the account that made it (in its list: %s), and no other', async (isInList) => {
  const { store, acme } = await open()
  const reference = intentIdOf(acme)
  const orders = [order('mine', reference.toUpperCase()), order('of another program', 'invoice 7'), order('without')]
  expect(await found(store, orders, isInList)).toEqual([
    ['mine', 'acme'],
    ['of another program', undefined],
    ['without', undefined],
  ])
  const size = amountSizeOf(amount('0.5')) ?? 0
  const candidatesOf = async (owner: string) => (await store.candidates(owner, [size], 10)).map(({ id }) => id).toSorted()
  expect(await candidatesOf(acme)).toEqual(['mine', 'of another program', 'without'])
  expect(await candidatesOf('other')).toEqual(['of another program', 'without'])
})

test.each([true, false])(
  'several orders with one reference (in the list: %s) name nobody: a create makes one',
  async (isInList) => {
    const { store, acme } = await open()
    const reference = intentIdOf(acme)
    expect(await found(store, [order('one', reference), order('two', reference)], isInList)).toEqual([
      ['one', undefined],
      ['two', undefined],
    ])
  },
)

const nothingContradicts: MayBecomePayable = async (_, { transaction }) => ({
  ...{ refused: [], counted: [], isPriceAlone: false, isTolerated: false },
  transaction,
})

test('another account than the reference names is a contradiction, which a person must name', async () => {
  const { store, acme } = await open()
  await found(store, [order('mine', intentIdOf(acme))])
  const ports = {
    store,
    ledger: { unresolvedBetween: async () => [] },
    readingOf: async () => ({
      naming: createAssetNaming(new AssetTable([]), { byCode: true }, []),
      capabilities: formA.capabilities,
      mayBecomePayable: nothingContradicts,
    }),
    readReport: async () => ({ outcome: 'missing' }) as const,
    claimAfter: async () => undefined,
    actor: 'tester',
  }
  const decision = { account: 'other', key: null, unconfirmed: true, note: 'log' } as const
  expect(await assignOrder('alpha~mine', decision, ports)).toMatchObject({ outcome: 'refused', contradictions: ['account'] })
  expect((await store.undecided()).map(({ id }) => id)).toEqual(['mine'])
  expect(await assignOrder('alpha~mine', { ...decision, despite: ['account'] }, ports)).toMatchObject({ account: 'other' })
})
