/** Looks for the one transaction that a create must have made (docs/contract.md §10.2). */

import { plainAmount } from '../domain/amount.ts'
import { Fault } from '../domain/fault.ts'
import { isIdentifier } from '../domain/identifier.ts'
import type { Answer, Caller, Context } from '../domain/operations.ts'
import type { Span } from '../domain/span.ts'
import type { Transaction } from '../domain/swap.ts'
import { type Candidates, type ListOptions, type Reader, readCandidates } from './candidates.ts'
import { type Account, after, before, judge } from './comparison.ts'
import type { Ledger, Open } from './ledger.ts'
import type { ListedRow } from './list-reading.ts'
import { namesOf } from './pair.ts'

export interface Found {
  /** The only one that is confirmed to be it. */
  readonly found?: Answer<'getTransaction'>
  /** Whether another may be it too, it may be another create's, or nothing confirms that it is it. */
  readonly isAmbiguous: boolean
}

/** What was found of one of the creates that were looked for. */
export type Find = (open: Open, span?: Span) => Promise<Found>

/** More candidates than these are not told apart by asking for each. */
const maxCandidates = 20

export interface SearchOptions extends ListOptions {
  readonly reader: Reader
  readonly caller: Caller
  readonly ledger: Ledger
  readonly root?: Span | undefined
}

/** Of one provider, and seen by one caller. Throws where its list cannot be read whole: then nothing is known of any of them. */
export async function search(opens: readonly Open[], options: SearchOptions): Promise<Find> {
  const { reader, caller, ledger, root } = options
  const { said, naming } = reader
  const context: Context = {
    requestId: crypto.randomUUID(),
    caller,
    client: said,
    deadline: Number.POSITIVE_INFINITY,
    span: root,
    isOwn: true,
  }
  const candidatesOf = await readCandidates(opens, reader, context, options)
  // First whose outcome is open, then what is held: what is settled in between is seen twice, and not never.
  const rivals = Map.groupBy(await openAround(opens, ledger), ({ asked }) => plainAmount(asked.amountIn))
  const held = await heldOf(opens, candidatesOf, ledger)
  return async (open, span) => {
    const rows = candidatesOf(open).filter(({ account: { id } }) => id === undefined || !held.has(id))
    const only = await onlyMatch(rows, open, reader, { ...context, span })
    if (!only?.match) return { isAmbiguous: only !== undefined }
    const { accounts, details } = only.match
    const rivalsOfAmount = rivals.get(plainAmount(open.asked.amountIn)) ?? []
    const isContested = rivalsOfAmount.some((rival) => rival.intent !== open.intent && judge(accounts, rival, naming) !== 'other')
    const body = merge(accounts)
    // One that has no address yet is its owner's no sooner than an answer to its create could be.
    const isAwaited = !body.depositAddress && !details.contradicted?.length
    if (isContested || isAwaited) return { isAmbiguous: true }
    return { found: { ...details, body: { ...body, ...namesOf(open.asked) } }, isAmbiguous: false }
  }
}

interface Match {
  readonly accounts: readonly Account[]
  readonly details: Answer<'getTransaction'>
}

/** Undefined where none of them may be it; without a match where several may be it, or nothing confirms that one is. */
async function onlyMatch(
  rows: readonly ListedRow[],
  open: Open,
  { service, naming }: Reader,
  context: Context,
): Promise<{ readonly match?: Match } | undefined> {
  if (rows.length > maxCandidates) return {}
  let match: Match | undefined
  for (const row of rows) {
    const details = await detailsOf(row, service, context)
    const accounts = details ? [row.account, details.body] : [row.account]
    const verdict = judge(accounts, open, naming)
    if (verdict === 'other') continue
    if (verdict === 'silent' || !row.isReadable || !details || match) return {}
    match = { accounts, details }
  }
  return match && { match }
}

/** Undefined where the provider tells no more than the row did: another transaction, none, or one that is as unreadable. */
async function detailsOf(
  { account: { id }, isReadable }: ListedRow,
  service: Reader['service'],
  context: Context,
): Promise<Answer<'getTransaction'> | undefined> {
  if (id === undefined || !isIdentifier(id)) return undefined
  try {
    const details = await service.call('getTransaction', { id }, context)
    return details.body.id === id ? details : undefined
  } catch (reason) {
    const { kind } = Fault.from(reason)
    if (kind === 'notFound' || (kind === 'unreadable' && !isReadable)) return undefined
    throw reason
  }
}

/** What the provider reported; the latest account counts, and an empty text is no account. */
function merge(accounts: readonly Account[]): Transaction {
  const reported = accounts.flatMap((account) => Object.entries(account).filter(([, value]) => value !== undefined && value !== ''))
  return Object.fromEntries(reported) as unknown as Transaction
}

/** Creates that may have made the same transactions. */
function openAround(opens: readonly Open[], ledger: Ledger): Promise<readonly Open[]> {
  const attempts = opens.map(({ attemptedAt }) => attemptedAt)
  const [{ provider }] = opens as [Open]
  return ledger.openBetween(provider, Math.min(...attempts) - after - before, Math.max(...attempts) + after + before)
}

function heldOf(opens: readonly Open[], candidatesOf: Candidates, ledger: Ledger): Promise<ReadonlySet<string>> {
  const [{ provider }] = opens as [Open]
  const ids = opens.flatMap((open) => candidatesOf(open).map(({ account: { id } }) => id)).filter((id) => id !== undefined)
  return ledger.held(provider, [...new Set(ids)])
}
