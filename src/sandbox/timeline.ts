/** Where a swap stands: a pure function of its facts and the time, so that nothing needs a timer or survives as one. */
import type { Status } from '../domain/status.ts'
import { isWithin } from './market/market.ts'
import type { Deposit, Swap } from './store.ts'

/** In seconds. */
export interface Pace {
  /** From one status to the next. */
  readonly speed: number
  /** Without a deposit for so long, a swap is overdue. */
  readonly expiry: number
  /** A swap is paid by itself after so long; 0: never. */
  readonly autoDeposit: number
}

export interface Stage {
  readonly status: Status
  /** When it began, in milliseconds since 1970. */
  readonly since: number
  readonly deposit?: Deposit
}

const paid: readonly Status[] = ['confirmation', 'confirmed', 'exchanging', 'sending', 'success']
const refused: readonly Status[] = ['confirmation', 'confirmed', 'refunded']

/** A deposit outside the limits is refunded once it is confirmed; a late one revives an overdue swap. */
export function stageOf(swap: Swap, pace: Pace, now: number): Stage {
  const deposit = depositOf(swap, pace, now)
  if (!deposit) return withoutDeposit(swap, pace, now)
  const path = isWithin(deposit.amount, swap) ? paid : refused
  const step = pace.speed * 1000
  const passed = step === 0 ? path.length : Math.floor((now - deposit.at) / step)
  const at = Math.min(Math.max(passed, 0), path.length - 1)
  return { status: path[at] as Status, since: deposit.at + at * step, deposit }
}

function withoutDeposit({ createdAt }: Swap, { expiry }: Pace, now: number): Stage {
  const expiresAt = createdAt + expiry * 1000
  return now < expiresAt ? { status: 'wait', since: createdAt } : { status: 'overdue', since: expiresAt }
}

function depositOf({ deposit, amountIn, createdAt }: Swap, { autoDeposit }: Pace, now: number): Deposit | undefined {
  if (deposit || autoDeposit === 0) return deposit
  const at = createdAt + autoDeposit * 1000
  return now < at ? undefined : { amount: amountIn, at }
}
