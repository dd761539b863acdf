import { beforeEach, expect, it } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { CacheShare } from '../../domain/bounded-map.ts'
import type { Status } from '../../domain/status.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { Ledger, LedgerEntry, TransactionRecord } from '../ports/ledger.ts'
import { type LedgerReadCache, latestOf, ledgerReadCache, WriteBehind } from './ledger-read-cache.ts'
import { mergeChecked } from './save-observed.ts'

let writes: { readonly record: TransactionRecord; readonly end: (isSaved?: boolean) => void }[]
let rows: Map<string, LedgerEntry>
let cache: LedgerReadCache
let writeBehind: WriteBehind
let sequence = 0
beforeEach(() => {
  writes = []
  rows = new Map()
  const ledger = {
    find: async (_: string, __: string, id: string) => rows.get(id),
    findAll: async () => [...rows.values()],
    upsert,
  } as unknown as Ledger
  cache = ledgerReadCache(providerScope({ ledger }))
  writeBehind = new WriteBehind(cache)
})

const upsert: Ledger['upsert'] = (owner, provider, record) => {
  const { promise, resolve, reject } = Promise.withResolvers<LedgerEntry>()
  const entry = { ...record, owner, provider, isCreated: false }
  const end = (isSaved = true): void => {
    if (isSaved) rows.set(record.transaction.id, entry)
    if (isSaved) resolve(entry)
    else reject(new Error('the disk is full'))
  }
  writes.push({ record, end })
  return promise
}

async function upserted(id: string, status: Status, isComplete: boolean): Promise<boolean> {
  const cached = await cache.find('acme', id, 0, undefined)
  const reported = { id, status } as Transaction
  const observed = { reported, derived: [], at: 0, isComplete, sequence: ++sequence }
  const { record } = mergeChecked(latestOf(cached), observed, providerScope())
  return writeBehind.write(cached, { ...record, owner: 'acme', provider: 'alpha', isCreated: false }, isComplete)
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const written = (): readonly string[] => writes.map(({ record: { transaction } }) => `${transaction.id} ${transaction.status}`)

it('the rows of a list are written a few at a time, and reports of gets go first', async () => {
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) expect(await upserted(id, 'wait', false)).toBe(true)
  expect(await upserted('g', 'success', true)).toBe(true)
  await settled()
  expect(written()).toEqual(['a wait', 'b wait', 'c wait', 'd wait'])
  writes[0]?.end()
  await settled()
  expect(written().slice(4)).toEqual(['g success'])
  for (const { end } of writes) end()
  await settled()
  for (const { end } of writes) end()
  await settled()
  expect(written().slice(5).toSorted()).toEqual(['e wait', 'f wait'])
  expect(await upserted('g', 'success', true)).toBe(false)
})

it('of reports during a write only the latest follows, once', async () => {
  for (const status of ['wait', 'confirmation', 'exchanging', 'success'] as const) await upserted('a', status, true)
  await settled()
  expect(written()).toEqual(['a wait'])
  writes[0]?.end()
  await settled()
  expect(written()).toEqual(['a wait', 'a success'])
  writes[1]?.end()
  await settled()
  expect(rows.get('a')?.transaction.status).toBe('success')
})

it('after a failed write the next report is stored', async () => {
  await upserted('a', 'success', true)
  await settled()
  writes[0]?.end(false)
  await settled()
  expect(await upserted('a', 'success', true)).toBe(true)
  await settled()
  expect(written()).toEqual(['a success', 'a success'])
})

it('reports beyond the share of memory are not stored, and those of a provider with fewer are', async () => {
  const share = new CacheShare(20_000)
  const [long, short] = [new WriteBehind(cache, share), new WriteBehind(cache, share)]
  const report = async (id: string, notes: string) => {
    const cached = await cache.find('acme', id, 0, undefined)
    const transaction = { id, status: 'wait', withdrawalAddress: notes } as Transaction
    const entry = { transaction, derived: [], sequence: ++sequence, owner: 'acme', provider: 'alpha', isCreated: false }
    return [cached, entry as unknown as LedgerEntry, false] as const
  }
  const stored = []
  for (let at = 0; at < 10; at++) stored.push(long.write(...(await report(`long ${at}`, 'x'.repeat(4_000)))))
  expect(stored.filter(Boolean).length).toBeGreaterThan(2)
  expect(stored.at(-1)).toBe(false)
  for (let at = 0; at < 10; at++) expect(short.write(...(await report(`short ${at}`, 'x'))), `${at}`).toBe(true)
  expect(share.bytes).toBeLessThanOrEqual(20_000)
})
