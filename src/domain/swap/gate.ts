/** A gate admits a call before its request is decoded. It depends only on the operation and the caller. */
import type { Fault } from '../faults/fault.ts'
import type { Op } from './operations.ts'
import type { Caller } from './service.ts'

/** The state of one limit of a caller. Times are whole seconds. */
export interface Quota {
  readonly policy: string
  readonly limit: number
  readonly windowSeconds: number
  readonly remaining: number
  readonly resetSeconds: number
}

/** The result of a gate. The call is admitted unless `refusal` is set. */
export interface Admission {
  /** The limit that the call was charged to. */
  readonly quota?: Quota
  /** Set if the call is rejected. */
  readonly refusal?: Fault
}

export type Gate = (op: Op, caller: Caller) => Promise<Admission>
