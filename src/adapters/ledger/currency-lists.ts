/** Kysely: providers' currency lists, with their age by clocks that no process sets. */
import { sql } from 'kysely'
import type { CurrencyLists } from '../../core/currency-lists.ts'
import type { Currency } from '../../domain/swap.ts'
import type { Store } from './store.ts'

/** A longer list is not kept: it would be slow to read, and no provider has one. In characters of JSON. */
const maxLength = 8_388_608

export function currencyLists({ database, writeOne, databaseTime, uptime }: Store): CurrencyLists {
  return {
    async loadCurrencies({ provider, url, form }) {
      const kept = database
        .selectFrom('currency_lists')
        .select(['rows', 'read_at_uptime', sql<number>`${databaseTime} - read_at`.as('age')])
        .where('provider', '=', provider)
        .where('url', '=', url)
        .where('form', '=', form)
      const row = await kept.executeTakeFirst()
      if (!row) return undefined
      const atLeast = uptime && row.read_at_uptime !== null ? uptime() - row.read_at_uptime : 0
      return { rows: JSON.parse(row.rows) as readonly Currency[], ageMs: ageOf(row.age, atLeast) }
    },
    async saveCurrencies({ provider, url, form }, { rows, ageMs }) {
      const text = JSON.stringify(rows)
      if (text.length > maxLength) throw new Error('The list of currencies is too long to be kept.')
      const age = Math.round(ageMs)
      const list = {
        url,
        form,
        rows: text,
        read_at: sql<number>`${databaseTime} - ${age}`,
        read_at_uptime: uptime ? uptime() - age : null,
      }
      await writeOne((within) =>
        within
          .insertInto('currency_lists')
          .values({ provider, ...list })
          .onConflict((conflict) => conflict.column('provider').doUpdateSet(list))
          .execute(),
      )
    },
  }
}

/** A list from the future was kept before the clock was set back: how old it is nobody knows. */
function ageOf(age: number, atLeast: number): number {
  return age < 0 ? Number.POSITIVE_INFINITY : Math.max(age, atLeast)
}
