import type { Fault } from '../faults/fault.ts'
import type { Op } from '../swap/operations.ts'
import type { Context } from '../swap/service.ts'
import type { NativeMethod, OpenPath } from './open-path.ts'

/** The operation whose limit and budget a native call shares (docs/contract.md §11). */
export function countedAs(method: NativeMethod): Op {
  return method === 'GET' || method === 'HEAD' ? 'getTransaction' : 'createTransaction'
}

/** Told when the head of the answer has come; the fault is what its status means, where it means one. */
export type ReportHead = (fault?: Fault) => void

/** Ends with the exchange; throws a `Fault` where that ends before its time. */
export type MakeNativeCall = (reportHead: ReportHead) => Promise<void>

/** Stands around the native calls of one provider. Throws `unavailable`, for certain, where a call is not to be made now. */
export type NativeGuard = (openPath: OpenPath, context: Context, call: MakeNativeCall) => Promise<void>
