/** Mismatches in a row, and when they suspend an asset (docs/contract-operators.md §10.3). */
import type { JudgementKind } from '../domain/observation.ts'
import type { AssetAtProvider } from './same-swap.ts'

/** Mismatches of one kind in a row, for one asset at a provider. Enough of them suspend it (docs/contract-operators.md §10.3). */
export interface MismatchStreak extends AssetAtProvider {
  readonly kind: JudgementKind
  /** Of the asset, by the table. */
  readonly network?: string | undefined
  /** The intents of the creates, oldest first. */
  readonly intents: readonly string[]
  /** Set once the asset is suspended. `since`: on the database's clock; `ageMs`: by it, so less than 0 if that was set back. */
  readonly suspension?: { readonly since: number; readonly ageMs: number } | undefined
}

/** What the response to a create says about one of its assets. */
export interface JudgedAsset extends Pick<MismatchStreak, 'asset' | 'sent' | 'network'> {
  /** All tags of the provider's account, its own first. */
  readonly tags: readonly string[]
  /** The kinds of mismatches. */
  readonly refused: readonly JudgementKind[]
  /** Whether mismatches at one of the tags are of this asset, and of a kind that the response was judged by. */
  readonly isOf: (streak: MismatchStreak) => boolean
}

/** Port: the assets that are suspended, in the ledger. */
export interface SuspensionStore {
  /** Also those whose time is over. */
  readonly read: () => Promise<readonly MismatchStreak[]>
}

/** So many mismatches of one kind in a row, with no create between that passed. */
const maxMismatches = 3
const durationMs = 600_000

/** How long the streak still suspends its asset. Never longer than from its beginning, also if the database's clock was set back. */
export function suspendedForMs({ suspension }: MismatchStreak): number {
  if (!suspension || Math.abs(suspension.ageMs) >= durationMs) return 0
  return Math.min(durationMs, durationMs - suspension.ageMs)
}

export function isSuspended(streak: MismatchStreak): boolean {
  return suspendedForMs(streak) > 0
}

/** Whether they are about what the asset is, not about how it is deposited: then it is suspended as the asset received, too. */
export function isOfBothSides({ kind }: MismatchStreak): boolean {
  return kind === 'contract' || kind === 'network'
}

/** On the clock of `since`. */
export function suspendedUntil(since: number): number {
  return since + durationMs
}

/** The asset as one word, or two where the table lacks it. */
export function assetText({ code, coin = '', network }: MismatchStreak['asset']): string {
  return code ?? (network === undefined ? coin : `${coin} ${network}`)
}

/**
 * The streaks of an asset after another mismatch, the create `intent`. While the asset is suspended nothing is counted: those creates
 * were under way; afterwards the count begins anew. A new suspension has the age 0.
 */
export function afterMismatch(
  streaks: readonly MismatchStreak[],
  { asset, sent, network, tags, refused }: JudgedAsset,
  intent: string,
): readonly MismatchStreak[] {
  if (streaks.some(isSuspended)) return streaks
  const [provider = ''] = tags
  const running = streaks.filter(({ suspension }) => !suspension)
  const counted = refused.map((kind): MismatchStreak => {
    const before = running.filter((streak) => streak.kind === kind).flatMap(({ intents }) => intents)
    return { provider, kind, asset, sent, network, intents: [...new Set([...before, intent])] }
  })
  const full = counted.find(({ intents }) => intents.length >= maxMismatches)
  if (full) return [{ ...full, suspension: { since: 0, ageMs: 0 } }]
  return [...running.filter(({ kind }) => !refused.includes(kind)), ...counted]
}
