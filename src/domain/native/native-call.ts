import type { Fault } from '../faults/fault.ts'
import type { Op } from '../swap/operations.ts'
import type { Context } from '../swap/service.ts'
import type { NativeMethod, OpenPath } from './open-path.ts'

/** The operation whose rate limit and budget apply to a native call (docs/contract.md §11). */
export function countedAs(method: NativeMethod): Op {
  return method === 'GET' || method === 'HEAD' ? 'getTransaction' : 'createTransaction'
}

/** Called with the head of the response. `fault`: what an error status means; absent for other statuses. */
export type ReportHead = (fault?: Fault) => void

/** Sends the request and resolves when the whole response was passed on. Throws a `Fault` if it was not, or the reason of `signal`. */
export type MakeNativeCall = (reportHead: ReportHead, signal: AbortSignal) => Promise<void>

/** Wraps each native call to one provider. Throws `unavailable` with `noEffect` if it rejects the call. */
export type NativeGuard = (openPath: OpenPath, context: Context, call: MakeNativeCall) => Promise<void>
