/** No error leaves the gateway without its reason: every client of the tests checks each response. */
import { reasons } from '../../src/domain/fault.ts'

const known: ReadonlySet<unknown> = new Set(reasons)

/** Throws if a response of the gateway is an error without a reason of the list, or has a reason and is no error. */
export function checkReason(status: number, headers: Readonly<Record<string, unknown>>, request: string): void {
  // A proxy in front of the gateway has responses of its own in some tests.
  if (headers['x-request-id'] === undefined) return
  const reason = headers['x-swap-reason']
  const isRight = status >= 400 ? known.has(reason) : reason === undefined
  if (!isRight) throw new Error(`X-Swap-Reason of ${status} to ${request} is ${reason}`)
}
