/** Searches for the one transaction of a create (docs/contract.md §10.2). */

import { plainAmount } from '../../../domain/amount.ts'
import { Fault } from '../../../domain/fault.ts'
import type { JudgementKind } from '../../../domain/observation.ts'
import type { Caller, Context, ServiceResponse } from '../../../domain/service.ts'
import type { Transaction } from '../../../domain/swap.ts'
import { isTransactionId } from '../../../domain/swap.ts'
import type { Span } from '../../../domain/trace.ts'
import { assetIn, from, pickAssetFields } from '../../assets/asset-naming.ts'
import { differences, mayBeOneAccount } from '../../destination.ts'
import type { Ledger, UnresolvedCreate } from '../../ledger.ts'
import {
  compareAll,
  compareCreate,
  createdAfterMs,
  createdBeforeMs,
  hasReferenceOf,
  otherTokensThanSent,
  type ReportedTransaction,
} from '../../same-swap.ts'
import { judgeFound } from '../judge.ts'
import type { ListedRow } from './list-scan.ts'
import { type CandidatesOf, readCandidates, type ScanOptions, type TransactionReader } from './match-candidates.ts'

/** The result of a search. */
export interface MatchResult {
  /** The only confirmed match. `contradicted`: for what nobody may get it. */
  readonly matched?: ServiceResponse<'getTransaction'>
  /** What is wrong with the match, and only counted. `network`: of the deposit, by the table. */
  readonly counted?: readonly { readonly kind: JudgementKind; readonly network: string | undefined }[]
  /** Whether there are several candidates, another create competes for the match, or nothing confirms it. */
  readonly isAmbiguous: boolean
  /** Whether a transaction that is no match may still be the create's: then the list does not prove that it made nothing. */
  readonly isPossible?: boolean
  /** Ids of what may be the create's, at most 20. */
  readonly candidates?: readonly string[]
}

/** Returns the match for one of the creates. */
export type MatchCreate = (create: UnresolvedCreate, span?: Span) => Promise<MatchResult>

/** For more candidates no details are read. */
const maxCandidates = 20

export interface MatchOptions extends ScanOptions {
  /** Tag of the provider of all the creates. */
  readonly provider: string
  readonly reader: TransactionReader
  readonly caller: Caller
  readonly ledger: Ledger
  readonly root?: Span | undefined
}

/** Matches creates of one provider with the list of one caller. Throws if the list cannot be read completely. */
export async function matchCreates(creates: readonly UnresolvedCreate[], options: MatchOptions): Promise<MatchCreate> {
  const { provider, reader, caller, ledger, root } = options
  const { capabilities } = reader
  const context: Context = {
    requestId: crypto.randomUUID(),
    caller,
    clientCapabilities: capabilities,
    deadline: Number.POSITIVE_INFINITY,
    span: root,
    isGatewayCall: true,
  }
  const candidatesOf = await readCandidates(creates, reader, context, options)
  // First the unresolved creates, then the existing ids: a create that is resolved in between is in both, never in neither.
  const { atAccount, elsewhere } = await createsAround(provider, creates, Math.abs(reader.clockSkewMs?.() ?? 0), ledger)
  const existingIds = await existingIdsOf(provider, creates, candidatesOf, ledger)
  return async (create, span) => {
    const listed = candidatesOf(create)
    const rows = listed.filter(({ reported: { id } }) => id === undefined || !existingIds.has(id))
    const candidates = rows.filter(({ reported }) => compareCreate([reported], create, reader) !== 'possible')
    // A list that is read elsewhere than the create was sent proves nothing.
    const isElsewhere = create.destination !== undefined && differences(create.destination, reader.destination).length > 0
    const isOwn = listed.some(({ reported }) => hasReferenceOf(create, reported))
    const isPossible = isElsewhere || isOwn || candidates.length < rows.length
    const result = await onlyMatch(candidates, create, reader, { ...context, span })
    const found = { candidates: rows.flatMap(({ reported: { id } }) => id ?? []).slice(0, maxCandidates) }
    if (!result?.match)
      return { isAmbiguous: result?.isAmbiguous ?? false, isPossible: isPossible || result !== undefined, ...found }
    const { reports, details } = result.match
    const amount = plainAmount(create.requested.amountIn)
    const others = (elsewhere.get(amount) ?? []).filter(({ destination }) => mayBeOneAccount(create.destination, destination))
    const competing = [...(atAccount.get(amount) ?? []), ...others]
    const isReferenced = reports.some((reported) => hasReferenceOf(create, reported))
    const isContested =
      !isReferenced &&
      competing.some(
        (other) => other.intent !== create.intent && ['match', 'incomplete'].includes(compareCreate(reports, other, reader)),
      )
    const body = mergeReports(reports)
    const differing = [...new Set([...(details.contradicted ?? []), ...contradictionsOf(reports, create, reader)])]
    const { refused: contradicted, counted } = judgeFound(differing, reader.policies)
    // A transaction without a deposit address is not bound yet: it would be no valid response to the create.
    const isAwaited = !body.depositAddress && contradicted.length === 0
    if (isContested || isAwaited) return { isAmbiguous: true, ...found }
    const bound = { ...body, ...pickAssetFields(create.requested), ownAssets: undefined, reference: undefined }
    const network = assetIn(create.requested, from, reader.naming.table)?.network
    return {
      matched: { ...details, body: bound, contradicted },
      counted: counted.map((kind) => ({ kind, network })),
      isAmbiguous: false,
    }
  }
}

/** What the transaction contradicts: only one with the create's reference contradicts more than the tokens. Its amount may be rounded. */
function contradictionsOf(
  reports: readonly ReportedTransaction[],
  create: UnresolvedCreate,
  { naming }: TransactionReader,
): readonly string[] {
  const { contradicted, alike } = compareAll(reports, create, naming)
  const tokens = reports.flatMap((reported) => otherTokensThanSent(reported, create, naming))
  return [...tokens, ...contradicted, ...alike.filter((field) => field !== 'amountIn')]
}

interface Match {
  readonly reports: readonly ReportedTransaction[]
  readonly details: ServiceResponse<'getTransaction'>
}

/** Undefined without a candidate. Ambiguous if there are several, or the only one is not confirmed; neither if its details make it merely possible. */
async function onlyMatch(
  rows: readonly ListedRow[],
  create: UnresolvedCreate,
  reader: TransactionReader,
  context: Context,
): Promise<{ readonly match?: Match; readonly isAmbiguous: boolean } | undefined> {
  if (rows.length > maxCandidates) return { isAmbiguous: true }
  let match: Match | undefined
  let isPossible = false
  for (const row of rows) {
    const details = await readDetails(row, reader.service, context)
    const reports = details ? [row.reported, details.body] : [row.reported]
    const verdict = compareCreate(reports, create, reader)
    if (verdict === 'other') continue
    isPossible ||= verdict === 'possible'
    if (verdict === 'possible') continue
    if (verdict === 'incomplete' || !row.isReadable || !details || match) return { isAmbiguous: true }
    match = { reports, details }
  }
  return match || isPossible ? { ...(match && { match }), isAmbiguous: false } : undefined
}

/** Undefined if the details add nothing to the row: another transaction, none, or one that is unreadable too. */
async function readDetails(
  { reported: { id }, isReadable }: ListedRow,
  service: TransactionReader['service'],
  context: Context,
): Promise<ServiceResponse<'getTransaction'> | undefined> {
  if (id === undefined || !isTransactionId(id)) return undefined
  try {
    const details = await service.call('getTransaction', { id }, context)
    return details.body.id === id ? details : undefined
  } catch (reason) {
    const { kind } = Fault.from(reason)
    if (kind === 'notFound' || (kind === 'unreadable' && !isReadable)) return undefined
    throw reason
  }
}

/** Merges the reports; later ones win. Empty texts count as missing. */
function mergeReports(reports: readonly ReportedTransaction[]): Transaction {
  const reported = reports.flatMap((report) => Object.entries(report).filter(([, value]) => value !== undefined && value !== ''))
  const merged: object = Object.fromEntries(reported)
  return merged as Transaction
}

/** Unresolved creates that may have made the same transactions, by their amounts: at the account of now, and elsewhere. */
async function createsAround(provider: string, creates: readonly UnresolvedCreate[], skewMs: number, ledger: Ledger) {
  const spanMs = createdAfterMs + createdBeforeMs + 2 * skewMs
  const attempts = creates.map(({ attemptedAt }) => attemptedAt)
  const [first, last] = [Math.min(...attempts) - spanMs, Math.max(...attempts) + spanMs]
  const byAmount = ({ requested }: UnresolvedCreate): string => plainAmount(requested.amountIn)
  return {
    atAccount: Map.groupBy(await ledger.unresolvedBetween(provider, first, last), byAmount),
    elsewhere: Map.groupBy(await ledger.unresolvedElsewhere(provider, first, last), byAmount),
  }
}

function existingIdsOf(
  provider: string,
  creates: readonly UnresolvedCreate[],
  candidatesOf: CandidatesOf,
  ledger: Ledger,
): Promise<ReadonlySet<string>> {
  const ids = creates.flatMap((create) => candidatesOf(create).map(({ reported: { id } }) => id)).filter((id) => id !== undefined)
  return ledger.existingIds(provider, [...new Set(ids)])
}
