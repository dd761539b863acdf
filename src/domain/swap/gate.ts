/** A gate lets a call in before its question is read: it knows the operation and the caller, nothing else. */
import type { Fault } from '../faults/fault.ts'
import type { Op } from './operations.ts'
import type { Caller } from './service.ts'

/** Where a caller stands in one of its limits. Times are whole seconds. */
export interface Quota {
  readonly policy: string
  readonly limit: number
  readonly windowSeconds: number
  readonly remaining: number
  readonly resetSeconds: number
}

export interface Admission {
  /** The limit that the call was charged to. */
  readonly quota?: Quota
  /** Why the call is not let in. */
  readonly refusal?: Fault
}

export type Gate = (op: Op, caller: Caller) => Promise<Admission>
