/** Changes that a test makes to a gateway directly, not through its clients. */
import type { StartedGateway } from './gateway.ts'

export interface ManualChanges {
  /** Tagged ids, and the owners that they were assigned to. */
  readonly assigned: { readonly id: string; readonly owner: string }[]
  /** Withdrawal addresses of creates that were resolved with `--none`. */
  readonly notCreated: string[]
}

interface Recording {
  readonly changes: () => ManualChanges
  readonly onKeyIssued: (key: string, account: string) => void
  /** The ledger is empty now. */
  readonly onForget: () => void
}

/** The gateway; its manual changes are recorded. */
export function withRecordedChanges(gateway: StartedGateway, { changes, onKeyIssued, onForget }: Recording): StartedGateway {
  return {
    ...gateway,
    ledger: ledgerOf(gateway, changes),
    ledgerAdmin: ledgerAdminOf(gateway, changes),
    async issueKey(name, expiresAt) {
      const key = await gateway.issueKey(name, expiresAt)
      onKeyIssued(key, name)
      return key
    },
    async forget() {
      await gateway.forget()
      onForget()
    },
  }
}

function ledgerOf({ ledger }: StartedGateway, changes: () => ManualChanges): StartedGateway['ledger'] {
  return {
    ...ledger,
    upsert(owner, provider, facts, before) {
      changes().assigned.push({ id: `${provider}~${facts.transaction.id}`, owner })
      return ledger.upsert(owner, provider, facts, before)
    },
  }
}

function ledgerAdminOf({ ledgerAdmin }: StartedGateway, changes: () => ManualChanges): StartedGateway['ledgerAdmin'] {
  const rowOf = async (intent: string) => (await ledgerAdmin.unresolved()).find((row) => row.intent === intent)
  return {
    ...ledgerAdmin,
    async bind(intent, id, at, facts, actor) {
      const row = await rowOf(intent)
      if (row) changes().assigned.push({ id: `${row.provider}~${id}`, owner: row.owner })
      return await ledgerAdmin.bind(intent, id, at, facts, actor)
    },
    async markNotCreated(intent, actor) {
      const row = await rowOf(intent)
      if (row) changes().notCreated.push(row.requested.withdrawalAddress)
      return await ledgerAdmin.markNotCreated(intent, actor)
    },
  }
}
