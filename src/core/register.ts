/** The list of an account's transactions, out of the ledger, whichever providers hold them (docs/contract.md §12). */
import type { Answer, Context, SwapService } from '../domain/operations.ts'
import type { Transaction } from '../domain/swap.ts'
import { readBounds } from './bounds.ts'
import { type Freshness, oldestOf } from './freshness.ts'
import { taggedId } from './identification.ts'
import { type Layer, on } from './layer.ts'
import type { Entry, Ledger } from './ledger.ts'
import { ownerOf } from './owner.ts'
import { recall } from './ownership.ts'
import { atMost } from './workers.ts'

const atOnce = 8
/** All the time that a list takes to be read again, in milliseconds. */
const patience = 2_000

export interface RegisterOptions {
  readonly ledger: Ledger
  readonly freshness: Freshness
}

/** What is not final and not fresh is read again first; what cannot be read is shown as it was last seen. */
export function register({ ledger, freshness }: RegisterOptions): Layer {
  return on({
    async listTransactions(query, context, next) {
      const { page, size } = query
      const { entries, total } = await ledger.list(ownerOf(context), { page, size, created: readBounds(query) })
      const rows = entries.map((entry) => rowOf(recall(entry, context), entry))
      const due = [...entries.entries()].filter(([, entry]) => freshness.isDue(entry))
      const deadline = Math.min(context.deadline, performance.now() + patience)
      await atMost(atOnce, due, async ([at, entry]) => {
        if (performance.now() >= deadline) return
        const answer = await read(entry, next, { ...context, deadline })
        if (answer) rows[at] = answer
      })
      const stale = oldestOf(rows)
      const [provider, ...others] = new Set(entries.map((entry) => entry.provider))
      return {
        body: { items: rows.map(({ body }) => body), total },
        derived: [...new Set(rows.flatMap(({ derived = [] }) => derived))],
        ...(stale !== undefined && { stale }),
        ...(provider !== undefined && others.length === 0 && { provider }),
      }
    },
  })
}

type Row = Answer<'getTransaction'>

function rowOf(answer: Row, { provider, transaction }: Entry): Row {
  const body: Transaction = { ...answer.body, id: taggedId(provider, transaction.id) }
  return { ...answer, body }
}

async function read({ provider, transaction }: Entry, service: SwapService, context: Context): Promise<Row | undefined> {
  try {
    return await service.call('getTransaction', { id: taggedId(provider, transaction.id) }, context)
  } catch {
    return undefined
  }
}
