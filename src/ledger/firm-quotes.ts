/** Kysely: quotes that are kept for one create each (docs/contract.md §10.7). All times are of the database's clock, so that every process agrees. */
import { setTimeout as delay } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { type Intent, type Ledger, maxFirmQuotes } from '../core/ports/ledger.ts'
import type { Database } from './database.ts'
import { readsOf } from './fresh-reads.ts'
import type { Store } from './store.ts'
import type { LedgerTurns } from './turns.ts'

/** Of one transaction: SQLite deletes them in the event loop, each from pages of its own. With a pause (ms) after each. */
const maxExpiredPerStep = 50
const pauseMs = 10

interface FirmQuoteRow {
  readonly provider: string
  readonly quote_id: string
  readonly terms: string
  readonly valid_until: number
  readonly intent: string | null
}

export function firmQuotes(store: Store, turns: LedgerTurns): Pick<Ledger, 'keepFirmQuote' | 'findFirmQuote' | 'expireFirmQuotes'> {
  const { writeOne, databaseTimeMs: now } = store
  const reads = readsOf(store)
  return {
    async keepFirmQuote({ id, owner, provider, quoteId, terms }, validForMs) {
      const keep = async (within: Database) => {
        const { rows } = await sql<{ readonly valid_until: number }>`
          insert into firm_quotes (id, owner, provider, quote_id, terms, valid_until)
          select ${id}, ${owner}, ${provider}, ${quoteId}, ${JSON.stringify(terms)}, ${now} + ${validForMs}
          where not exists (
            select 1 from firm_quotes where owner = ${owner} and valid_until > ${now} limit 1 offset ${sql.lit(maxFirmQuotes - 1)}
          )
          on conflict (id) do update set valid_until = firm_quotes.valid_until
          returning valid_until`.execute(within)
        return rows
      }
      const [kept] = await turns.create(owner, () => writeOne(keep))
      return kept ? Number(kept.valid_until) : 'tooMany'
    },
    async findFirmQuote(owner, id) {
      const quote = sql<FirmQuoteRow>`
        select provider, quote_id, terms, valid_until, intent from firm_quotes
        where id = ${id} and owner = ${owner} and valid_until > ${now}`
      const row = await turns.read(owner, () => reads.find(async (on) => (await quote.execute(on)).rows[0]))
      if (!row || row.intent !== null) return undefined
      const { provider, quote_id: quoteId, valid_until } = row
      return { id, owner, provider, quoteId, terms: JSON.parse(row.terms), validUntil: Number(valid_until) }
    },
    async expireFirmQuotes() {
      while (await writeOne((within) => deleteExpired(within, now))) await delay(pauseMs)
    },
  }
}

/** For a create that has begun in this transaction. Returns false if the quote is over, or another create has it. */
export async function useFirmQuote(
  within: Database,
  { id, owner, firmQuote }: Intent,
  { databaseTimeMs }: Pick<Store, 'databaseTimeMs'>,
) {
  const { numAffectedRows } = await sql`
    update firm_quotes set intent = ${id}
    where id = ${firmQuote} and owner = ${owner} and intent is null and valid_until > ${databaseTimeMs}`.execute(within)
  return numAffectedRows === 1n
}

/** Whether the swap has used a quote that is not over: without the swap it would be free again. */
export function holdsFirmQuote({ databaseTimeMs }: Pick<Store, 'databaseTimeMs'>): RawBuilder<boolean> {
  return sql`exists (
    select 1 from firm_quotes where firm_quotes.intent = transactions.intent and firm_quotes.valid_until > ${databaseTimeMs}
  )`
}

/** Returns whether some may be left. */
async function deleteExpired(within: Database, now: RawBuilder<number>): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from firm_quotes where id in (
      select id from firm_quotes where valid_until <= ${now} order by valid_until limit ${sql.lit(maxExpiredPerStep)}
    )`.execute(within)
  return numAffectedRows === BigInt(maxExpiredPerStep)
}
