/** What is said where there is nothing more to say: one wording for a kind of fault, wherever it comes from. */
import { Fault, type FaultDetails } from './fault.ts'

const messages = {
  unauthorized: 'The API key is missing or not valid.',
  notFound: 'Transaction not found.',
  limited: 'Too many requests; please wait as long as Retry-After says.',
  failed: 'The provider could not answer; please try again later.',
  accessRefused: 'The provider could not answer; please try again later.',
  unreadable: "The provider's answer could not be used; please try again later.",
  unavailable: 'The provider can take no more at the moment; please wait as long as Retry-After says.',
} as const

export type StandardKind = keyof typeof messages

export function standardFault(kind: StandardKind, details: FaultDetails = {}): Fault {
  return new Fault(kind, messages[kind], details)
}

export function standardMessage(kind: StandardKind): string {
  return messages[kind]
}

/** Another transaction's deposit address under this id would be somebody's loss. */
export function otherTransaction(provider: string): Fault {
  const message = "The provider's answer was about another transaction; please try again later."
  return new Fault('unreadable', message, { provider })
}
