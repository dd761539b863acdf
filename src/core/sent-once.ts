/**
 * What is sent to a provider once: the ledger has it first, then it is done, refused, or of an unknown outcome. That is looked for, and
 * never sent again. Both creates (`creation/intent.ts`) and actions (`actions/act.ts`) go this way.
 */
import { withTimeout } from '../domain/async.ts'
import { Fault, type FaultDetails } from '../domain/fault.ts'
import { ledgerUnavailable } from './instrumented-ledger.ts'

/** How long it waits for the ledger before it is sent. */
export const maxLedgerWaitMs = 1_000
/** How long after its deadline the process that sends it may still record the outcome. */
export const marginMs = 5_000
/** From an unknown outcome to the first look. */
export const firstCheckMs = 5_000

/** Whether the ledger has taken the claim: false if another request was first. Throws after `waitMs`; nothing is sent then, and `drop` takes back what the ledger takes later. */
export async function claimInTime(claiming: Promise<boolean>, waitMs: number, drop: () => Promise<unknown>): Promise<boolean> {
  return await withTimeout(claiming, waitMs, () => {
    void dropLate(claiming, drop)
    throw ledgerUnavailable()
  })
}

async function dropLate(claiming: Promise<boolean>, drop: () => Promise<unknown>): Promise<void> {
  if (await claiming.catch(() => false)) await drop().catch(() => {})
}

/** A time-out before the first byte went up: 504 would say that the outcome is unknown. */
export function unreachableInTime(details: FaultDetails): Fault {
  const message = 'The provider could not be reached in time, and nothing was sent; please try again later.'
  return new Fault('unreachable', message, details)
}
