/** What an action is answered with that was not carried out, or of which nobody knows. */
import { Fault, standardFault } from '../../domain/fault.ts'
import { isFinal } from '../../domain/status.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { LedgerEntry } from '../ports/ledger.ts'
import { firstCheckMs, unreachableInTime } from '../sent-once.ts'

/** What was done about it after the backup is not in the ledger. */
export function unconfirmed(): Fault {
  return needsPerson(
    'The service was restored, and a person finds out what was done about this swap before; please ask your operator.',
  )
}

export function needsPerson(message: string): Fault {
  return new Fault('inProgress', message, { reason: 'needs_person', effect: 'refused', retryAfter: 3_600, canForce: true })
}

export function endedFault({ transaction, settledAt }: LedgerEntry): Fault | undefined {
  const { status } = transaction
  if (isFinal(status)) return conflict(`This swap has ended: its status is ${status}.`)
  return settledAt === undefined ? undefined : conflict('This swap was settled by your operator.')
}

export function notOffered({ supportUrl }: Transaction): Fault {
  const where = supportUrl === undefined ? 'please ask your operator' : 'please send your user to its support page'
  return new Fault('invalid', `The provider does not offer this for this swap now; ${where}.`, {
    reason: 'not_offered',
    effect: 'nothingSent',
    supportUrl,
  })
}

export function conflict(message: string): Fault {
  return new Fault('conflict', message, { effect: 'refused' })
}

/** The refusal of the gateway's own key is a failure of the provider. A time-out before the first byte went up is none of the outcome. */
export function refusal(fault: Fault): Fault {
  const { kind, provider } = fault
  const details = { effect: 'refused', cause: fault, ...(provider !== undefined && { provider }) } as const
  if (kind === 'unauthorized') return standardFault('accessRefused', details)
  if (kind === 'limited') return standardFault('unavailable', { ...details, retryAfter: fault.retryAfter ?? 1 })
  return kind === 'timedOut' ? unreachableInTime(details) : fault
}

export function unknownOutcome(cause: Fault, provider: string): Fault {
  const message =
    'The outcome is unknown: the provider may have taken it. Please repeat this request unchanged: nothing is sent twice.'
  return new Fault('outcomeUnknown', message, { cause, provider, retryAfter: Math.ceil(firstCheckMs / 1_000) + 1 })
}
