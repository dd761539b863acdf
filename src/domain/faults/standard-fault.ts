/** Standard messages: one wording per kind of fault, wherever it is thrown. */
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

/** A `Fault` of this kind with its standard message. */
export function standardFault(kind: StandardKind, details: FaultDetails = {}): Fault {
  return new Fault(kind, messages[kind], details)
}

export function standardMessage(kind: StandardKind): string {
  return messages[kind]
}

/** The provider returned another transaction. It must not be passed on: a payment to its deposit address would be lost. */
export function otherTransaction(provider: string): Fault {
  const message = "The provider's answer was about another transaction; please try again later."
  return new Fault('unreadable', message, { provider })
}
