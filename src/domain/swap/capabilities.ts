import type { Op } from './operations.ts'

/** What a form can say: the domain fields of each question and answer, and the promises that it makes. */
export interface Capabilities {
  readonly requestFields: Readonly<Record<Op, ReadonlySet<string>>>
  readonly responseFields: Readonly<Record<Op, ReadonlySet<string>>>
  /** Whether its list of transactions is promised to be newest creation first. */
  readonly newestFirst: boolean
  /** Whether the amount received of a transaction that is not complete is the one to be expected; else it is not said. */
  readonly hasExpectedAmount: boolean
}

/** True where the form names an asset in one word, false where it says coin and network. */
export function namesByCode(capabilities: Capabilities): boolean {
  return capabilities.requestFields.getRate.has('codeFrom')
}
