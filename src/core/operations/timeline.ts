/** A swap with what happened to it, for a person (docs/operating.md). */
import { toIso } from '../../domain/instant.ts'
import type { FailedReadsEvent, TimelineEvent, TimelineFact } from '../../domain/timeline.ts'
import type { FoundSwap, LedgerAdmin } from '../ports/ledger-admin.ts'
import { swapRow } from './find.ts'
import { failedText, readsRow } from './reads.ts'

/** `id`: an intent, or an id for clients. Undefined if the ledger has neither. `isWhole`: its addresses are. */
export async function swapTimeline(ledgerAdmin: Pick<LedgerAdmin, 'timeline'>, id: string, isWhole = false) {
  const read = await ledgerAdmin.timeline(id)
  if (!read) return undefined
  const { matched: _, ...swap } = swapRow(read.swap, isWhole)
  const { entry } = read.swap
  const reads = entry && readsRow(entry, read.events.findLast(isFailedReads))
  return { swap, ...(reads && { reads }), timeline: wholeTimeline(read.swap, read.events).map(eventRow) }
}

function isFailedReads(event: TimelineEvent): event is FailedReadsEvent {
  return event.event === 'reads_failed'
}

/** By then what this version sees is written. */
const writtenAfterMs = 10_000
/** At most this much of a swap is shown. */
const maxShown = 1_000

/** The request before, and the last change behind, if a version that noted nothing has seen it. */
function wholeTimeline(swap: FoundSwap, events: readonly TimelineEvent[]): readonly ShownEvent[] {
  const { attemptedAt, requestId, keyId, entry } = swap
  const requested: readonly ShownEvent[] =
    attemptedAt === undefined
      ? []
      : [
          {
            at: Math.min(attemptedAt, events[0]?.at ?? attemptedAt),
            event: 'requested',
            requestId: requestId ?? null,
            keyId: keyId ?? null,
          },
        ]
  const status = entry?.transaction.status ?? null
  const isNoted = events.some((event) => event.event === 'status' && event.to === status)
  const last: readonly ShownEvent[] =
    entry?.changedAt === undefined || isNoted || Date.now() - entry.changedAt < writtenAfterMs
      ? []
      : [{ at: entry.changedAt, event: 'status', from: null, to: status, attention: entry.transaction.attention ?? null }]
  return [...requested, ...withoutRepeats(events), ...last].slice(0, maxShown)
}

/** Several processes may have seen one change. */
function withoutRepeats(events: readonly TimelineEvent[]): readonly TimelineEvent[] {
  let before: Extract<TimelineEvent, { event: 'status' }> | undefined
  return events.filter((event) => {
    if (event.event !== 'status') return true
    const isRepeat = before?.to === event.to && before.attention === event.attention
    before = event
    return !isRepeat
  })
}

type ShownEvent =
  | TimelineEvent
  | { readonly event: 'requested'; readonly at: number; readonly requestId: string | null; readonly keyId: string | null }

function eventRow({ at, ...fact }: ShownEvent) {
  return fact.event === 'reads_failed' ? { at: toIso(at), ...fact, since: toIso(fact.since) } : { at: toIso(at), ...fact }
}

type EventRow = ReturnType<typeof eventRow>

/** What happened, in a line. */
export function eventText(row: EventRow): string {
  switch (row.event) {
    case 'requested':
      return [`request ${row.requestId ?? 'unknown'}`, ...(row.keyId === null ? [] : [`with the key ${row.keyId}`])].join(' ')
    case 'routed':
      return [
        `to ${row.provider}: ${row.strategy}, ${row.because}`,
        ...row.omitted.map((one) => `${one.provider} is ${one.because}`),
      ].join('; ')
    case 'compared':
      return `${row.provider} ${row.amountOut ?? row.amountIn ?? row.reason ?? 'names no amount'}`
    case 'passed_over':
      return `${row.provider} does not take it: ${[row.reason, row.because].filter(Boolean).join(', ')}`
    case 'quoted':
      return `${row.amountIn} gives ${row.amountOut} at ${row.provider} (${row.source}${row.rate === undefined ? '' : `, rate ${row.rate}`})`
    case 'call':
      return callText(row)
    case 'outcome':
      return [
        row.outcome,
        ...(row.status === undefined ? [] : [row.status]),
        ...(row.fields?.length ? [`differs in ${row.fields.join(', ')}`] : []),
      ].join(', ')
    case 'search':
      return [
        row.outcome,
        ...(row.candidates > 0 ? [`${row.candidates} candidates`] : []),
        ...(row.price ? ['no price was known'] : []),
        ...row.calls.map(callText),
      ].join('; ')
    case 'status':
      return `${row.from ?? 'unknown'} to ${row.to ?? 'unknown'}${row.attention === null ? '' : `, ${row.attention}`}`
    case 'action':
      return `${row.action}: ${row.outcome}`
    case 'reads_failed':
      return failedText(row)
    case 'person':
      return `${row.actor}: ${row.action}${row.decision === undefined ? '' : ` ${JSON.stringify(row.decision)}`}`
  }
}

type CallText = Omit<Extract<TimelineFact, { event: 'call' }>, 'event'>

function callText({ operation, provider, status, outcome, cause, milliseconds }: CallText): string {
  return [
    `${operation} at ${provider}: ${status ?? 'no response'}`,
    outcome,
    ...(cause === undefined ? [] : [cause]),
    `${milliseconds} ms`,
  ].join(', ')
}
