/** What needs a person: creates without a known or accepted outcome, and transactions that a provider reports as failed or held. */
import { toIso } from '../../domain/instant.ts'
import {
  type FoundTransaction,
  type LedgerAdmin,
  maxUnresolved,
  type UnresolvedCreateReport,
  type UnresolvedCursor,
} from '../ledger-admin.ts'
import { shortAddresses, shortRow } from './transaction-row.ts'

export type UnresolvedLists = Pick<LedgerAdmin, 'unresolved' | 'needPerson'>

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

/** A page of creates, with whole addresses or shortened ones; the last one ends with the transactions that need a person. */
export async function unresolvedPage(
  ledgerAdmin: UnresolvedLists,
  { after, isWhole }: { readonly after: UnresolvedCursor | undefined; readonly isWhole: boolean },
): Promise<UnresolvedPage> {
  const creates = await ledgerAdmin.unresolved(after)
  const rows = creates.map(isWhole ? createRow : shortCreateRow)
  if (creates.length === maxUnresolved) return { rows, next: creates.at(-1) }
  return { rows: [...rows, ...(await ledgerAdmin.needPerson()).map(transactionRow)] }
}

function createRow(create: UnresolvedCreateReport) {
  const { account = null, attemptedAt, reported = null, unknownReason: _, ...others } = create
  return { ...others, account, reason: reasonOf(create), attemptedAt: toIso(attemptedAt), reported }
}

function shortCreateRow(create: UnresolvedCreateReport) {
  const { requested } = create
  return createRow({ ...create, requested: { ...requested, ...shortAddresses(requested) } as typeof requested })
}

function transactionRow(found: FoundTransaction) {
  const row = shortRow(found)
  return { ...row, reason: row.attention, state: 'attention' }
}

/**
 * Why the create is in the list: `timed_out` and the like while its outcome is unknown, the fields of a mismatch, `refused` for one that
 * may exist although the provider refused it; `running` may still end by itself.
 */
export function reasonOf({ state, unknownReason, deadline, attemptedAt, reported }: UnresolvedCreateReport): string {
  if (state === 'mismatch') return reported ? reported.fields.join(', ') : 'refused'
  if (state === 'pending') return Date.now() < (deadline ?? attemptedAt) ? 'running' : 'interrupted'
  return unknownReason ?? 'unknown'
}

/** For a person: whose it was, and why one was needed, as far as it is known. */
export function originLines(account: string | undefined, reason: string | undefined): readonly string[] {
  const parts = [account === undefined ? [] : [`Account: ${account}.`], reason === undefined ? [] : [`Reason: ${reason}.`]].flat()
  return parts.length === 0 ? [] : [parts.join(' ')]
}
