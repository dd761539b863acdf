/** What needs a person: creates without a known or accepted outcome, and transactions that a provider reports as failed or held. */
import { toIso } from '../../domain/instant.ts'
import {
  type FoundTransaction,
  type LedgerAdmin,
  maxUnresolved,
  type UnresolvedCreateReport,
  type UnresolvedCursor,
} from '../ledger-admin.ts'
import { shortRow } from './transaction-row.ts'

type UnresolvedLists = Pick<LedgerAdmin, 'unresolved' | 'needPerson'>

/** All creates, the oldest first. */
export async function unresolvedCreates(ledgerAdmin: UnresolvedLists): Promise<readonly UnresolvedCreateReport[]> {
  const creates: UnresolvedCreateReport[] = []
  for (let page = await ledgerAdmin.unresolved(); page.length > 0; page = await ledgerAdmin.unresolved(page.at(-1)))
    creates.push(...page)
  return creates
}

/** Everything as JSON: creates, then transactions. */
export async function unresolvedRows(ledgerAdmin: UnresolvedLists): Promise<readonly object[]> {
  const transactions = await ledgerAdmin.needPerson()
  return [...(await unresolvedCreates(ledgerAdmin)).map(createRow), ...transactions.map(transactionRow)]
}

export interface UnresolvedPage {
  readonly rows: readonly object[]
  /** Of the next page; absent on the last one. */
  readonly next?: UnresolvedCursor | undefined
}

/** A page of creates; the last one ends with the transactions that need a person. */
export async function unresolvedPage(ledgerAdmin: UnresolvedLists, after?: UnresolvedCursor): Promise<UnresolvedPage> {
  const creates = await ledgerAdmin.unresolved(after)
  if (creates.length === maxUnresolved) return { rows: creates.map(createRow), next: creates.at(-1) }
  return { rows: [...creates.map(createRow), ...(await ledgerAdmin.needPerson()).map(transactionRow)] }
}

function createRow({ attemptedAt, reported, ...create }: UnresolvedCreateReport) {
  return { ...create, attemptedAt: toIso(attemptedAt), reported: reported ?? null }
}

function transactionRow(found: FoundTransaction) {
  return { ...shortRow(found), state: 'attention' }
}
