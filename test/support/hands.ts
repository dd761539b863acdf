/** What a test does to a gateway by hand, past its clients. */
import type { RunningGateway } from './gateway.ts'

export interface Hands {
  /** Ids, as clients know them, and the owners that they were given to. */
  readonly handed: { readonly id: string; readonly owner: string }[]
  /** Withdrawal addresses of creates that were resolved with `--none`. */
  readonly dismissed: string[]
}

interface Overseer {
  readonly hands: () => Hands
  readonly issued: (key: string, account: string) => void
  /** The ledger is empty by now. */
  readonly forgot: () => void
}

/** The gateway; the overseer gets everything that is done by hand. */
export function overseen(gateway: RunningGateway, { hands, issued, forgot }: Overseer): RunningGateway {
  return {
    ...gateway,
    ledger: ledgerOf(gateway, hands),
    ledgerAdmin: ledgerAdminOf(gateway, hands),
    async issueKey(name, expiresAt) {
      const key = await gateway.issueKey(name, expiresAt)
      issued(key, name)
      return key
    },
    async forget() {
      await gateway.forget()
      forgot()
    },
  }
}

function ledgerOf({ ledger }: RunningGateway, hands: () => Hands): RunningGateway['ledger'] {
  return {
    ...ledger,
    upsert(owner, provider, facts, before) {
      hands().handed.push({ id: `${provider}~${facts.transaction.id}`, owner })
      return ledger.upsert(owner, provider, facts, before)
    },
  }
}

function ledgerAdminOf({ ledgerAdmin }: RunningGateway, hands: () => Hands): RunningGateway['ledgerAdmin'] {
  const rowOf = async (intent: string) => (await ledgerAdmin.unresolved()).find((row) => row.intent === intent)
  return {
    ...ledgerAdmin,
    async bind(intent, id, at, facts, actor) {
      const row = await rowOf(intent)
      if (row) hands().handed.push({ id: `${row.provider}~${id}`, owner: row.owner })
      return await ledgerAdmin.bind(intent, id, at, facts, actor)
    },
    async markNotCreated(intent, actor) {
      const row = await rowOf(intent)
      if (row) hands().dismissed.push(row.requested.withdrawalAddress)
      return await ledgerAdmin.markNotCreated(intent, actor)
    },
  }
}
