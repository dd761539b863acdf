/** The swaps that a person finds by an id, an address or an account (docs/operating.md). */
import { toIso } from '../../domain/instant.ts'
import { formatTransactionId } from '../../domain/swap.ts'
import type { FindCursor, FoundSwap, LedgerAdmin, SwapField } from '../ports/ledger-admin.ts'
import { shortAddresses, shortened, wholeRow } from './transaction-row.ts'
import { type UnresolvedLists, unresolvedCreates } from './unresolved.ts'

/** Whole pages are as cheap as short ones. */
export const maxPage = 100

export const findTextRule = '1 to 300 printable characters'

/** Undefined if the text can be nothing of a swap. */
export function toFindText(text: string): string | undefined {
  const trimmed = text.trim()
  return /^\P{C}{1,300}$/u.test(trimmed) ? trimmed : undefined
}

/** The text for the audit log, which has no whole address and no key: what names a swap or an account is whole, an id of a provider with its tag. */
export function auditedText(text: string, { rows }: FoundPage): string {
  const isName = rows.some(({ matched }) => matched.some((field) => namingFields.has(field)))
  const byProvider = rows.find(({ matched }) => matched.includes('providerId'))
  return byProvider?.id ?? (isName ? text : shortened(text))
}

const namingFields: ReadonlySet<SwapField> = new Set(['intent', 'id', 'providerId', 'requestId', 'account'])

export interface FoundPage {
  readonly rows: readonly SwapRow[]
  /** Absent on the last one. */
  readonly next?: FindCursor | undefined
}

export type SwapRow = ReturnType<typeof swapRow>

/** `after`: the `next` of the page before. */
export async function findSwaps(
  ledgerAdmin: Pick<LedgerAdmin, 'find'>,
  text: string,
  size: number,
  after?: FindCursor,
): Promise<FoundPage> {
  const { found, next } = await ledgerAdmin.find(text, size, after)
  return { rows: found.map((one) => swapRow(one)), next }
}

/** Of what a text finds. */
const maxSearched = 10_000

/** What needs a person, of what the text finds. */
export async function unresolvedWith(
  ledgerAdmin: Pick<LedgerAdmin, 'find' | 'unresolved' | 'needPerson'>,
  text: string,
): Promise<UnresolvedLists> {
  const names = new Set<string | null>()
  let searched = 0
  let page: FoundPage | undefined
  do {
    page = await findSwaps(ledgerAdmin, text, maxPage, page?.next)
    searched += page.rows.length
    for (const { state, attention, intent, id } of page.rows) if (state !== 'done' || attention !== null) names.add(intent).add(id)
  } while (page.next && searched < maxSearched)
  const creates = (await unresolvedCreates(ledgerAdmin)).filter(({ intent }) => names.has(intent))
  const transactions = (await ledgerAdmin.needPerson()).filter(({ entry }) =>
    names.has(formatTransactionId(entry.provider, entry.transaction.id)),
  )
  return { unresolved: async (after) => (after ? [] : creates), needPerson: async () => transactions }
}

/** What is not known is null. `isWhole`: its addresses are. */
export function swapRow(
  { intent, state, provider, providerId, account, requestId, keyId, attemptedAt, entry, requested, matched }: FoundSwap,
  isWhole = false,
) {
  const facts = entry ? wholeRow({ entry }) : { ...requested, status: null, attention: null }
  return {
    ...facts,
    ...(isWhole ? {} : shortAddresses(entry?.transaction ?? requested ?? {})),
    id: providerId === undefined ? null : formatTransactionId(provider, providerId),
    intent: intent ?? null,
    state,
    provider,
    account: account ?? null,
    requestId: requestId ?? null,
    keyId: keyId ?? null,
    attemptedAt: toIso(attemptedAt),
    matched,
  }
}
