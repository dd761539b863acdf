/** docs/contract.md §5, usage: what the ledger has of an account is exact, whatever was pruned, and each batch of requests is added once. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { TransactionRecord } from '../../src/core/ports/ledger.ts'
import type { ExportedEntry } from '../../src/core/ports/ledger-admin.ts'
import type { CountedRequests } from '../../src/core/ports/usage.ts'
import { type Status, statuses } from '../../src/domain/status.ts'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { removeOld } from '../../src/process/retention.ts'
import { amount, eachOf, facts, intent, requested } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const hour = 3_600_000
const day = 24 * hour
const now = Date.now()
const never = (): boolean => false

/** A new account. Returns its id. */
async function account({ accounts }: OpenLedger, name: string): Promise<string> {
  const digest = randomUUID()
  await accounts.addKey({ id: randomUUID(), name, createdAt: now }, digest, 'test')
  return (await accounts.findKeys([digest])).get(digest)?.identity ?? ''
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T
const codes = ['BTC', 'ETH', 'USDTTRC20', 'XMR']

function randomAmount(): string {
  const digits = String(Math.floor(Math.random() * 1e15))
  return pick([digits, `0.${digits.padStart(18, '0')}`, `${digits}.10`, `${digits[0]}.${digits}e-12`, '0.1', '1e3', '0'])
}

async function makeSwap({ ledger }: OpenLedger, owner: string, id: string): Promise<void> {
  const attemptedAt = now - Math.floor(Math.random() * 900 * day)
  const [amountIn, amountOut] = [amount(randomAmount()), amount(randomAmount())]
  const pair = { codeFrom: pick(codes), codeTo: pick(codes) }
  const create = intent({ owner, attemptedAt, requested: { ...requested, ...pair, amountIn } })
  await ledger.begin(create)
  const transaction = { ...pair, amountIn, amountOut, createdAt: new Date(attemptedAt).toISOString() }
  await ledger.complete(create.id, facts(id, transaction, { quotedAmountOut: amountOut, reportedAt: attemptedAt }))
  const before = await ledger.find(owner, 'alpha', id)
  const status = pick(statuses)
  if (!before || status === 'wait') return
  const paid =
    status === 'success' || Math.random() < 0.5 ? { amountIn: amount(randomAmount()), amountOut: amount(randomAmount()) } : {}
  const record: TransactionRecord = { ...before, sequence: 1, transaction: { ...before.transaction, ...paid, status } }
  await ledger.upsert(owner, 'alpha', record, before)
}

// Another sum over an export: in units of 10^-60.

const places = 60

function units(text: string): bigint {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const shifted = places - fraction.length + Number(exponent)
  return BigInt(whole + fraction) * 10n ** BigInt(shifted)
}

function plain(sum: bigint): string {
  const text = String(sum).padStart(places + 1, '0')
  return `${text.slice(0, -places)}.${text.slice(-places)}`.replace(/\.?0+$/, '')
}

type Sums = Record<string, string>

function sumOf(
  entries: readonly ExportedEntry[],
  facts: (entry: ExportedEntry) => readonly [string | undefined, string | undefined],
): Sums {
  const sums: Record<string, bigint> = {}
  for (const [code, text] of entries.map(facts)) if (code && text) sums[code] = (sums[code] ?? 0n) + units(text)
  return Object.fromEntries(Object.entries(sums).map(([code, sum]) => [code, plain(sum)]))
}

const ended: readonly (Status | undefined)[] = ['success', 'refunded', 'overdue']

/** What `usage` must say of an account's swaps. */
function expected(entries: readonly ExportedEntry[]) {
  const swaps: Record<string, number> = {}
  for (const { transaction } of entries) swaps[transaction.status ?? ''] = (swaps[transaction.status ?? ''] ?? 0) + 1
  const paid = entries.filter(({ transaction }) => transaction.status === 'success')
  const open = entries.filter(({ transaction }) => !ended.includes(transaction.status))
  return {
    creates: expect.objectContaining({ done: entries.length }),
    swaps,
    amounts: {
      in: sumOf(paid, ({ transaction }) => [transaction.codeFrom, transaction.amountIn]),
      out: sumOf(paid, ({ transaction }) => [transaction.codeTo, transaction.amountOut]),
    },
    open: {
      in: sumOf(open, ({ transaction, agreedAmountIn }) => [transaction.codeFrom, agreedAmountIn ?? transaction.amountIn]),
      out: sumOf(open, ({ transaction, quotedAmountOut, agreedAmountOut }) => [
        transaction.codeTo,
        agreedAmountOut ?? quotedAmountOut,
      ]),
    },
  }
}

const exported = ({ ledgerAdmin }: OpenLedger, since?: number): Promise<readonly ExportedEntry[]> =>
  Array.fromAsync(ledgerAdmin.export(since))

describeStores(allStores, (shared) => {
  test('the sums are those over an export, before and after swaps are removed, whole and since an hour', {
    timeout: 60_000,
  }, async () => {
    const store = await shared().openNew()
    const owners = new Map(await Promise.all(['acme', 'globex'].map(async (name) => [name, await account(store, name)] as const)))
    await account(store, 'idle')
    await eachOf(
      Array.from({ length: 400 }, (_, n) => n),
      (n) => makeSwap(store, pick([...owners.values()]), `swap-${n}`),
    )
    const sinces = [undefined, ...[1, 30, 200, 450].map((days) => Math.floor((now - days * day) / hour) * hour)]
    const wanted = new Map<string, unknown>()
    for (const since of sinces) {
      const all = await exported(store, since)
      for (const [name, owner] of owners) wanted.set(`${name} ${since}`, expected(all.filter((entry) => entry.owner === owner)))
    }
    const differences = async () => {
      const wrong: unknown[] = []
      for (const since of sinces)
        for (const name of owners.keys()) {
          const [found] = await store.usage.read(since, name)
          try {
            expect(found).toMatchObject(wanted.get(`${name} ${since}`) as object)
          } catch (reason) {
            wrong.push(`${name} ${since}: ${reason}`)
          }
        }
      return wrong
    }
    expect(await differences()).toEqual([])
    const count = (await exported(store)).length
    await removeOld(store.retention, { keep: 300 }, never)
    expect((await exported(store)).length).toBeLessThan(count)
    expect(await differences()).toEqual([])
    const left = (await exported(store)).length
    let isPruned = false
    const pruning = store.ledgerAdmin.prune(now - 30 * day, 'test').finally(() => {
      isPruned = true
    })
    let reads = 0
    for (; !isPruned; reads++)
      expect((await store.usage.read(undefined, 'acme'))[0]).toMatchObject(wanted.get('acme undefined') as object)
    await pruning
    expect(reads).toBeGreaterThan(0)
    expect((await exported(store)).length).toBeLessThan(left)
    expect(await differences()).toEqual([])
    expect((await store.usage.read()).map(({ account: name }) => name)).toEqual(['acme', 'globex', 'idle'])
    expect(await store.usage.read(undefined, 'nobody')).toEqual([])
    const none = { creates: { done: 0, refused: 0, unknown: 0, mismatch: 0 }, swaps: {}, requests: {} }
    expect(await store.usage.read(undefined, 'idle')).toMatchObject([none])
  })

  test('a create that made nothing is refused, until it turns out that it made something', async () => {
    const store = await shared().openNew()
    const { ledger, ledgerAdmin, usage } = store
    const owner = await account(store, 'acme')
    const creates = async () => (await usage.read())[0]?.creates
    const begin = async () => {
      const create = intent({ owner })
      await ledger.begin(create)
      return create.id
    }
    const [dropped, refused, late, kept] = [await begin(), await begin(), await begin(), await begin()]
    expect(await creates()).toEqual({ done: 0, refused: 0, unknown: 4, mismatch: 0 })
    await ledger.drop(dropped)
    await ledger.drop(dropped)
    await ledger.drop(refused, now)
    await ledgerAdmin.markNotCreated(late, 'test')
    expect(await creates()).toEqual({ done: 0, refused: 3, unknown: 1, mismatch: 0 })
    const [due] = await ledger.dueRefusedCreates(now, 1, undefined)
    if (due) await ledger.keepRefused(due, facts('was-there').transaction)
    expect(await creates()).toEqual({ done: 0, refused: 2, unknown: 1, mismatch: 1 })
    await ledger.complete(late, facts('late'))
    expect(await creates()).toEqual({ done: 1, refused: 1, unknown: 1, mismatch: 1 })
    await ledger.drop(kept, now)
    const [last] = await ledger.dueRefusedCreates(now, 1, undefined)
    if (last) await ledger.scheduleNextRefusedCheck(last, undefined)
    expect(await creates()).toEqual({ done: 1, refused: 2, unknown: 0, mismatch: 1 })
    expect((await usage.read(now + hour))[0]?.creates).toEqual({ done: 0, refused: 0, unknown: 0, mismatch: 0 })
  })

  test('a create under a key that is in use is no refused one, nor is one that was getting its quote', async () => {
    const store = await shared().openNew()
    const { ledger, usage } = store
    const owner = await account(store, 'acme')
    const idempotencyKey = { key: 'k', fingerprint: 'f' }
    expect(await ledger.begin(intent({ owner, idempotencyKey }))).toBe(true)
    expect(await ledger.begin(intent({ owner, idempotencyKey }))).toBe(false)
    await ledger.begin(intent({ owner, isQuoting: true }))
    expect((await usage.read())[0]?.creates).toEqual({ done: 0, refused: 0, unknown: 1, mismatch: 0 })
  })

  test('an asset without a code has its coin and network; what an owner has that is no account is not kept', async () => {
    const store = await shared().openNew()
    const { ledger, usage, retention } = store
    const owner = await account(store, 'acme')
    const at = now - 500 * day
    const pair = { codeFrom: undefined, coinFrom: 'XYZ', networkFrom: 'ETH' }
    for (const of of [owner, 'a key of the provider'])
      await ledger.upsert(
        of,
        'alpha',
        facts(`of ${of}`, { ...pair, status: 'success', amountIn: amount('1.50'), createdAt: new Date(at).toISOString() }),
      )
    await ledger.upsert(owner, 'alpha', facts('new'))
    await removeOld(retention, { keep: 400 }, never)
    const [found] = await usage.read()
    expect(found).toMatchObject({ creates: { done: 0 }, swaps: { success: 1, wait: 1 }, amounts: { in: { 'XYZ:ETH': '1.5' } } })
  })
})

describeStores(durableStores, (shared) => {
  const counted = (account: string, fields: Partial<CountedRequests> = {}): CountedRequests => ({
    ...{ account, hour: Math.floor(now / hour) * hour, operation: 'getRate', result: 'ok', count: 1 },
    ...fields,
  })

  test('several processes add their requests, and a batch that is written again counts once', async () => {
    const store = await shared().openNew()
    const other = await openLedger(store.url)
    onTestFinished(other.close)
    const owner = await account(store, 'acme')
    const batches = Array.from({ length: 20 }, (_, n) => n + 1)
    const write =
      ({ usage }: OpenLedger, writer: string) =>
      async () => {
        for (const number of batches) {
          const counts = [counted(owner, { count: number }), counted(owner, { operation: 'createTransaction', result: 'limited' })]
          await Promise.all([
            usage.recordRequests({ writer, number, counts }),
            usage.recordRequests({ writer, number, counts: counts.toReversed() }),
          ])
          await usage.recordRequests({ writer, number, counts })
        }
      }
    await Promise.all([write(store, 'one')(), write(other, 'two')(), write(store, 'three')()])
    expect((await other.usage.read())[0]?.requests).toEqual({
      createTransaction: { ok: 0, limited: 60, refused: 0, failed: 0 },
      getRate: { ok: 630, limited: 0, refused: 0, failed: 0 },
    })
    expect((await other.usage.read(now + hour))[0]?.requests).toEqual({})
  })

  test('requests are kept for 400 days, also without a setting', async () => {
    const store = await shared().openNew()
    const owner = await account(store, 'acme')
    const ago = (days: number): number => Math.floor((now - days * day) / hour) * hour
    const hours = [...Array.from({ length: 1_200 }, (_, n) => ago(402) - n * hour), ago(399), ago(0)]
    await store.usage.recordRequests({ writer: 'one', number: 1, counts: hours.map((each) => counted(owner, { hour: each })) })
    await removeOld(store.retention, {}, never)
    expect((await store.usage.read())[0]?.requests.getRate?.ok).toBe(2)
  })
})
