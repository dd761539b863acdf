/** What a gateway's ledger has at the end of a scenario, in the terms of the checker. */

import { hashKey } from '../../src/adapters/crypto.ts'
import type { Evidence } from '../checker/evidence.ts'
import type { StartedGateway } from './gateway.ts'
import { findKey } from './key-lookup.ts'
import type { ManualChanges } from './manual-changes.ts'

interface LedgerContents {
  readonly gateway: StartedGateway
  /** The keys of each client. */
  readonly clients: ReadonlyMap<string, readonly string[]>
  readonly manualChanges: ManualChanges
  /** When the scenario began. */
  readonly began: number
}

/** A client's list and gets are made from the ledger's rows of its owner, so these stand for both. */
export async function readLedgerContents(reading: LedgerContents): Promise<Partial<Evidence>> {
  try {
    return await read(reading)
  } catch (reason) {
    return { unreadable: String(reason) }
  }
}

async function read({ gateway, clients, manualChanges, began }: LedgerContents): Promise<Partial<Evidence>> {
  const { accounts, ledgerAdmin } = gateway
  const exported: { id: string; owner: string }[] = []
  for await (const { provider, owner, transaction } of ledgerAdmin.export())
    exported.push({ id: `${provider}~${transaction.id}`, owner })
  const owners = new Map<string, string>()
  for (const [client, [key = '']] of clients) {
    const digest = hashKey(key)
    owners.set(client, (await findKey(accounts, digest))?.identity ?? digest)
  }
  const holdings = [...owners].map(([client, owner]) => {
    const ids = new Set(exported.filter((row) => row.owner === owner).map(({ id }) => id))
    return { client, listed: ids, got: ids }
  })
  const unresolved = (await ledgerAdmin.unresolved()).filter(({ attemptedAt }) => attemptedAt >= began)
  const unresolvedAddresses = [...unresolved.map(({ requested }) => requested.withdrawalAddress), ...manualChanges.notCreated]
  const assignedByHand = manualChanges.assigned.flatMap(({ id, owner }) =>
    [...owners].filter(([, other]) => other === owner).map(([client]) => ({ id, client })),
  )
  return { holdings, unresolvedAddresses, exported, assignedByHand }
}
