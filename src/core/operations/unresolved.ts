/** What needs a person: creates without a known or accepted outcome, and transactions that failed, are held or lost, or have an unknown status. */
import { inSlices } from '../../domain/async.ts'
import { toIso } from '../../domain/instant.ts'
import {
  type FoundTransaction,
  type LedgerAdmin,
  maxUnresolved,
  type UnresolvedCreateReport,
  type UnresolvedCursor,
} from '../ports/ledger-admin.ts'
import { type HasPlainIds, knownPart } from './secret-ids.ts'
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

/** A page of creates, whole or with shortened addresses and ids; the last one ends with the transactions that need a person. */
export async function unresolvedPage(
  ledgerAdmin: UnresolvedLists,
  after: UnresolvedCursor | undefined,
  shortenedFor: HasPlainIds | undefined,
): Promise<UnresolvedPage> {
  const creates = await ledgerAdmin.unresolved(after)
  const rows: object[] = []
  await inSlices(creates, (create) => rows.push(createRow(shortenedFor ? shortCreate(create, shortenedFor) : create)))
  if (creates.length === maxUnresolved) return { rows, next: creates.at(-1) }
  await inSlices(await ledgerAdmin.needPerson(), (found) => rows.push(transactionRow(found)))
  return { rows }
}

function createRow(create: UnresolvedCreateReport) {
  const { account = null, attemptedAt, reported, unknownReason: _, ...others } = create
  const response = reported ? { id: reported.id, fields: reported.fields } : null
  return { ...others, account, reason: reasonOf(create), attemptedAt: toIso(attemptedAt), reported: response }
}

function shortCreate(create: UnresolvedCreateReport, hasPlainIds: HasPlainIds): UnresolvedCreateReport {
  const { provider, requested, candidates, reported } = create
  const short = (id: string): string => knownPart(provider, id, hasPlainIds)
  return {
    ...create,
    requested: { ...requested, ...shortAddresses(requested) } as typeof requested,
    ...(candidates && { candidates: candidates.map(short) }),
    ...(reported && { reported: { ...reported, id: short(reported.id) } }),
  }
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
