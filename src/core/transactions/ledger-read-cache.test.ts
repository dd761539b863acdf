import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import type { Status } from '../../domain/status.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { Ledger, LedgerEntry } from '../ports/ledger.ts'
import { type CachedTransaction, type LedgerReadCache, latestOf, ledgerReadCache, WriteBehind } from './ledger-read-cache.ts'

/** The next result of each method, in the order of the calls. */
let results: Record<'find' | 'findAll' | 'upsert', PromiseWithResolvers<unknown>[]>
let cache: LedgerReadCache
const call = (method: keyof typeof results) => (): Promise<never> => {
  const pending = Promise.withResolvers<unknown>()
  results[method].push(pending)
  return pending.promise as Promise<never>
}
beforeEach(() => {
  results = { find: [], findAll: [], upsert: [] }
  const ledger = { find: call('find'), findAll: call('findAll'), upsert: call('upsert') } as unknown as Ledger
  cache = ledgerReadCache(providerScope({ ledger }))
})

const entry = (status: Status, sequence: number, fields: Partial<LedgerEntry> = {}): LedgerEntry => ({
  transaction: { id: 'x', status } as Transaction,
  derived: [],
  reportedAt: 0,
  fetchedAt: 0,
  owner: 'acme',
  provider: 'alpha',
  isCreated: true,
  sequence,
  ...fields,
})
const find = async (): Promise<CachedTransaction> => cache.find('acme', 'x', performance.now(), 'wait')
const found = async (stored: LedgerEntry | undefined): Promise<CachedTransaction> => {
  const finding = find()
  results.find.at(-1)?.resolve(stored)
  return await finding
}
/** The clock of `performance.now()` has gone on. */
const tick = (): Promise<void> => setImmediate()
const statusOf = (cached: CachedTransaction): Status | undefined => latestOf(cached)?.transaction.status

describe('a read of the ledger that overlaps another one', () => {
  it.each([
    ['an older entry', entry('wait', 1)],
    ['no entry', undefined],
    ['the entry from before a create took its id', entry('exchanging', 2, { isCreated: false })],
  ])('and returns %s later, does not count', async (_, older) => {
    const slow = find()
    await tick()
    await found(entry('exchanging', 2))
    results.find[0]?.resolve(older)
    expect(await slow).toMatchObject({ stored: { sequence: 2, isCreated: true } })
  })

  it('counts if the entry is newer', async () => {
    const slow = find()
    await tick()
    await found(entry('wait', 1))
    results.find[0]?.resolve(entry('exchanging', 2))
    expect(statusOf(await slow)).toBe('exchanging')
  })

  it('a read that began during a write and found nothing does not undo it', async () => {
    const cached = await found(undefined)
    const saving = cache.save(cached, entry('success', 1))
    await tick()
    const reading = find()
    results.upsert[0]?.resolve(entry('success', 1))
    await saving
    results.find.at(-1)?.resolve(undefined)
    expect(statusOf(await reading)).toBe('success')
  })
})

it.each([
  ['an entry with a lower sequence', entry('wait', 1)],
  ['no entry', undefined],
])('a read that began later and returns %s counts: the row was pruned', async (_, now) => {
  await found(entry('exchanging', 2))
  await tick()
  expect((await found(now)).stored).toEqual(now)
})

it('a failed read changes nothing, for one and for several', async () => {
  await found(entry('exchanging', 2))
  const finding = find()
  results.find.at(-1)?.reject(new Error('the ledger is away'))
  expect(statusOf(await finding)).toBe('exchanging')
  const findingAll = cache.findAll('acme', [{ id: 'x' } as Transaction])
  results.findAll[0]?.reject(new Error('the ledger is away'))
  const [[, listed] = []] = await findingAll
  expect(listed?.stored?.sequence).toBe(2)
})

it('a state that is no change gives way to what another process has stored, whatever their clocks', async () => {
  const cached = await found(entry('wait', 1))
  expect(new WriteBehind(cache).write(cached, entry('wait', 9), true)).toBe(false)
  await tick()
  expect(statusOf(await found(entry('exchanging', 8)))).toBe('exchanging')
})

it('a change that is not stored yet stays, until a later one is stored', async () => {
  const cached = await found(entry('wait', 1))
  expect(new WriteBehind(cache).write(cached, entry('exchanging', 9), true)).toBe(true)
  await tick()
  expect(statusOf(await found(entry('confirmation', 8)))).toBe('exchanging')
  await tick()
  expect(statusOf(await found(entry('sending', 10)))).toBe('sending')
})

it('the state of another owner’s transaction is written once, and again when it changes', async () => {
  const cached = await found(undefined)
  const writes = new WriteBehind(cache)
  for (const sequence of [1, 2, 3]) writes.write(cached, entry('wait', sequence, { isCreated: false }), true)
  for (let settled = 0; settled < results.upsert.length; settled++) {
    results.upsert[settled]?.resolve(undefined)
    await tick()
  }
  expect(results.upsert).toHaveLength(1)
  expect(writes.write(cached, entry('wait', 4, { isCreated: false }), true)).toBe(false)
  expect(writes.write(cached, entry('exchanging', 5, { isCreated: false }), true)).toBe(true)
})
