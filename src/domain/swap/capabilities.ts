import type { Op } from './operations.ts'

/** The capabilities of a form: the domain fields of each request and response, and its guarantees. */
export interface Capabilities {
  readonly requestFields: Readonly<Record<Op, ReadonlySet<string>>>
  readonly responseFields: Readonly<Record<Op, ReadonlySet<string>>>
  /** Whether the form guarantees transaction lists with the newest creation first. */
  readonly newestFirst: boolean
  /** Whether `amountOut` of an unfinished transaction is the expected amount. Otherwise it is empty until it is known. */
  readonly hasExpectedAmount: boolean
  /** The most rows that a page of it can have. */
  readonly pageSize: number
}

/** True if the form names an asset by code, false if by coin and network. */
export function namesByCode(capabilities: Capabilities): boolean {
  return capabilities.requestFields.getRate.has('codeFrom')
}
