/** What a test does to a ledger by hand, past the gateway. */
import type { RunningGateway } from './gateway.ts'

export interface Hands {
  /** Ids, as clients know them, and the owners that they were given to. */
  readonly handed: { readonly id: string; readonly owner: string }[]
  /** Withdrawal addresses of creates of which somebody said that nothing came of them. */
  readonly dismissed: string[]
}

/** The ledger and its books, with everything that is done through them noted. */
export function byHand(
  { ledger, bookkeeping }: RunningGateway,
  hands: () => Hands,
): Pick<RunningGateway, 'ledger' | 'bookkeeping'> {
  const rowOf = async (intent: string) => (await bookkeeping.unresolved()).find((row) => row.intent === intent)
  return {
    ledger: {
      ...ledger,
      see(owner, provider, facts) {
        hands().handed.push({ id: `${provider}~${facts.transaction.id}`, owner })
        return ledger.see(owner, provider, facts)
      },
    },
    bookkeeping: {
      ...bookkeeping,
      async bind(intent, id, at) {
        const row = await rowOf(intent)
        if (row) hands().handed.push({ id: `${row.provider}~${id}`, owner: row.owner })
        return await bookkeeping.bind(intent, id, at)
      },
      async none(intent) {
        const row = await rowOf(intent)
        if (row) hands().dismissed.push(row.asked.withdrawalAddress)
        return await bookkeeping.none(intent)
      },
    },
  }
}
