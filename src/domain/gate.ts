/** A gate lets a call in before its question is read: it knows the operation and the caller, nothing else. */
import type { Fault } from './fault.ts'
import type { Caller, Op } from './operations.ts'

/** Where a caller stands in one of its limits. Times are whole seconds. */
export interface Quota {
  readonly policy: string
  readonly limit: number
  readonly window: number
  readonly remaining: number
  readonly reset: number
}

export interface Admission {
  /** The limit that the call was charged to. */
  readonly quota?: Quota
  /** Why the call is not let in. */
  readonly refusal?: Fault
}

export type Gate = (op: Op, caller: Caller) => Promise<Admission>
