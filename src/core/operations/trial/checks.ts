/** The checks of a trial, and what they share. */
import { Fault } from '../../../domain/fault.ts'
import type { Context, Op, SwapService } from '../../../domain/service.ts'
import type { RateType } from '../../../domain/swap.ts'
import type { SharedDeposits } from '../../assets/deposits.ts'
import type { Catalogue } from '../../assets/listing.ts'

export type TrialCheckName = 'currencies' | 'assets' | 'float quote' | 'fixed quote' | 'list' | 'unknown id' | 'key'

/** `none`: the form does not have it. `skipped`: it could not be tried. Neither is a failure of its own. */
export type TrialOutcome = 'works' | 'fails' | 'none' | 'skipped'

export interface TrialCheck {
  readonly check: TrialCheckName
  readonly outcome: TrialOutcome
  readonly message: string
  /** Codes of the table's assets that the provider lists without ambiguity. */
  readonly assets?: readonly string[]
}

export interface TriedProvider {
  readonly catalogue: Catalogue
  /** With the provider's names of assets. */
  readonly service: SwapService
  /** With the table's names of assets. */
  readonly translated: SwapService
  readonly sharedDeposits: SharedDeposits
  /** Whether the provider supports memos: `providers.<name>.extraIds`. */
  readonly acceptsMemos: boolean
  /** Whether a get must name the networks of a transaction: `providers.<name>.networks`. */
  readonly mustNameNetworks: boolean
  readonly hasKey: boolean
  readonly has: (op: Op, rateType?: RateType) => boolean
  readonly needsKey: (op: Op) => boolean
  /** Whether a create needs the id of a quote. */
  readonly isQuotedFirst: (rateType: RateType) => boolean
  /** Whether such a quote carries the address of a client, and the trial has none. */
  readonly lacksAddress: (rateType: RateType) => boolean
  readonly contextOf: () => Context
}

/** How each operation ended that the provider responses only with a key. */
export type KeyedEnds = Map<Op, 'done' | Fault>

export function works(check: TrialCheckName, message: string): TrialCheck {
  return { check, outcome: 'works', message }
}

export function fails(check: TrialCheckName, message: string): TrialCheck {
  return { check, outcome: 'fails', message }
}

export function skipped(check: TrialCheckName, message: string): TrialCheck {
  return { check, outcome: 'skipped', message }
}

/** The value or the fault. The end of a keyed operation is noted. */
export async function read<T>({ needsKey }: TriedProvider, ends: KeyedEnds, op: Op, response: Promise<T>): Promise<T | Fault> {
  const note = (end: 'done' | Fault): void => void (needsKey(op) && ends.set(op, end))
  try {
    const value = await response
    note('done')
    return value
  } catch (reason) {
    const fault = Fault.from(reason)
    note(fault)
    return fault
  }
}
