/** docs/contract.md §10.7: a firm quote in the ledger. */
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { type FirmQuote, type Intent, maxFirmQuotes } from '../../src/core/ports/ledger.ts'
import { QuoteNotHeld } from '../../src/domain/fault.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { facts, intent } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const hourMs = 3_600_000

function quoteOf(owner: string, more: Partial<FirmQuote> = {}): FirmQuote {
  const terms = { coinFrom: 'BTC', coinTo: 'ETH', amountIn: '1.10', quotedAmount: '16', rateType: 'fixed' } as FirmQuote['terms']
  return { id: randomUUID(), owner, provider: 'alpha', quoteId: 'rate-1', terms, ...more }
}

describeStores(allStores, (shared) => {
  const owner = (): string => `owner ${randomUUID()}`
  const create = ({ owner: who, id }: FirmQuote, more: Partial<Intent> = {}): Intent =>
    intent({ owner: who, firmQuote: id, ...more })

  test('is found by its owner alone, with its digits', async () => {
    const { ledger } = shared()
    const quote = quoteOf(owner())
    const validUntil = await ledger.keepFirmQuote(quote, hourMs)
    expect(validUntil).toBeGreaterThan(Date.now() + hourMs - 60_000)
    expect(await ledger.findFirmQuote(quote.owner, quote.id)).toEqual({ ...quote, validUntil })
    expect(await ledger.findFirmQuote(owner(), quote.id)).toBeUndefined()
    expect(await ledger.findFirmQuote(quote.owner, randomUUID())).toBeUndefined()
  })

  test('is over when its time is, by the clock of the database', async () => {
    const { ledger } = shared()
    const quote = quoteOf(owner())
    await ledger.keepFirmQuote(quote, 0)
    expect(await ledger.findFirmQuote(quote.owner, quote.id)).toBeUndefined()
    await expect(ledger.begin(create(quote))).rejects.toBeInstanceOf(QuoteNotHeld)
  })

  test('is for one of many creates at the same moment, and those that have none leave nothing', async () => {
    const { ledger, ledgerAdmin } = shared()
    const quote = quoteOf(owner())
    await ledger.keepFirmQuote(quote, hourMs)
    const intents = Array.from({ length: 5 }, (_, at) => create(quote, { idempotencyKey: { key: `k${at}`, fingerprint: '[]' } }))
    const results = await Promise.allSettled(intents.map((each) => ledger.begin(each)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(QuoteNotHeld)
    expect(await ledger.findFirmQuote(quote.owner, quote.id)).toBeUndefined()
    const unresolved = await ledgerAdmin.unresolved()
    expect(unresolved.filter((each) => each.owner === quote.owner)).toHaveLength(1)
    const keys = await Promise.all(intents.map((_, at) => ledger.findIdempotencyKey(quote.owner, `k${at}`)))
    expect(keys.filter((key) => key !== undefined)).toHaveLength(1)
  })

  test('a create of another account does not get it', async () => {
    const { ledger } = shared()
    const quote = quoteOf(owner())
    await ledger.keepFirmQuote(quote, hourMs)
    await expect(ledger.begin({ ...create(quote), owner: owner() })).rejects.toBeInstanceOf(QuoteNotHeld)
    expect(await ledger.findFirmQuote(quote.owner, quote.id)).toBeDefined()
  })

  test('stays used by what is done, unknown or a mismatch, and is free again after a refusal', async () => {
    const { ledger } = shared()
    const ends: readonly [(id: string) => Promise<unknown>, boolean][] = [
      [(id) => ledger.complete(id, facts(randomUUID())), false],
      [(id) => ledger.markUnknown(id, Date.now() + hourMs), false],
      [(id) => ledger.markMismatch(id, facts(randomUUID()).transaction, ['coinTo']), false],
      [(id) => ledger.drop(id), true],
      [(id) => ledger.drop(id, Date.now() + hourMs), true],
    ]
    for (const [end, isFree] of ends) {
      const quote = quoteOf(owner())
      await ledger.keepFirmQuote(quote, hourMs)
      const first = create(quote)
      expect(await ledger.begin(first)).toBe(true)
      expect(await ledger.begin(first)).toBe(true) // an unconfirmed commit is repeated
      await end(first.id)
      expect((await ledger.findFirmQuote(quote.owner, quote.id)) !== undefined).toBe(isFree)
      const second = ledger.begin(create(quote))
      await (isFree ? expect(second).resolves.toBe(true) : expect(second).rejects.toBeInstanceOf(QuoteNotHeld))
    }
  })

  test('a swap that has used one is not pruned before it is over', async () => {
    const { ledger, ledgerAdmin } = shared()
    const quote = quoteOf(owner())
    await ledger.keepFirmQuote(quote, hourMs)
    const first = create(quote)
    await ledger.begin(first)
    const done = facts(randomUUID())
    await ledger.complete(first.id, { ...done, transaction: { ...done.transaction, status: 'success' } })
    await ledgerAdmin.prune(Date.now() + hourMs, 'test')
    expect(await ledger.find(quote.owner, 'alpha', done.transaction.id)).toBeDefined()
  })

  test('an account has so many that are not over, and no more', async () => {
    const { ledger, url } = shared()
    const who = owner()
    if (url === 'sqlite::memory:') return
    await query(
      url,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${maxFirmQuotes - 1})
       insert into firm_quotes (id, owner, provider, quote_id, terms, valid_until)
       select '${who} ' || i, '${who}', 'alpha', 'q', '{}', ${Date.now() + hourMs} from n`,
    )
    expect(await ledger.keepFirmQuote(quoteOf(who), hourMs)).toBeTypeOf('number')
    expect(await ledger.keepFirmQuote(quoteOf(who), hourMs)).toBe('tooMany')
    expect(await ledger.keepFirmQuote(quoteOf(owner()), hourMs)).toBeTypeOf('number')
  })

  test('those that are over are removed', async () => {
    const { ledger, url } = shared()
    const [over, held] = [quoteOf(owner()), quoteOf(owner())]
    await ledger.keepFirmQuote(over, 0)
    await ledger.keepFirmQuote(held, hourMs)
    await ledger.expireFirmQuotes()
    expect(await ledger.findFirmQuote(held.owner, held.id)).toBeDefined()
    if (url !== 'sqlite::memory:')
      expect(await query(url, `select id from firm_quotes where id in ('${over.id}', '${held.id}')`)).toEqual([{ id: held.id }])
  })
})

describeStores(durableStores, (shared) => {
  test('two processes on one ledger: one create gets it', async () => {
    const { url, ledger } = await shared().openNew()
    const other = await openLedger(url)
    onTestFinished(other.close)
    for (let round = 0; round < 20; round++) {
      const quote = quoteOf('owner')
      await ledger.keepFirmQuote(quote, hourMs)
      const begin = (at: typeof ledger) => at.begin(intent({ firmQuote: quote.id }))
      const results = await Promise.allSettled([begin(ledger), begin(other.ledger), begin(ledger), begin(other.ledger)])
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    }
  })

  test('a process that ends after it has taken one leaves it used', async () => {
    const { url, ledger, close } = await shared().openNew()
    const quote = quoteOf('owner')
    await ledger.keepFirmQuote(quote, hourMs)
    await ledger.begin(intent({ firmQuote: quote.id }))
    await close()
    const next = await openLedger(url)
    onTestFinished(next.close)
    expect(await next.ledger.findFirmQuote('owner', quote.id)).toBeUndefined()
    await expect(next.ledger.begin(intent({ firmQuote: quote.id }))).rejects.toThrow(QuoteNotHeld)
  })
})

describeStores(['SQLite in a file'], (shared) => {
  test('of those that are over, at most fifty are removed before the event loop goes on', async () => {
    const { url, ledger } = await shared().openNew()
    await query(
      url,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 510)
       insert into firm_quotes (id, owner, provider, quote_id, terms, valid_until)
       select 'quote ' || i, 'owner', 'alpha', 'q', '{}', 1 from n`,
    )
    const reading = new DatabaseSync(url.replace('sqlite:', ''))
    onTestFinished(() => reading.close())
    const count = reading.prepare('select count(*) as left from firm_quotes')
    const seen: number[] = []
    let next: NodeJS.Immediate | undefined
    const look = (): void => {
      seen.push(Number(count.get()?.left))
      next = setImmediate(look)
    }
    look()
    await ledger.expireFirmQuotes()
    clearImmediate(next)
    seen.push(Number(count.get()?.left))
    expect([seen[0], seen.at(-1)]).toEqual([510, 0])
    expect(Math.max(...seen.slice(1).map((left, at) => (seen[at] ?? 0) - left))).toBe(50)
  })
})
