import type { Reason } from '../domain/faults/reason.ts'

/** What is wrong with a value on the wire. Whose fault that is, the edge decides: a codec does not know where it stands. */
export class WireError extends Error {
  /** The wire name at fault; empty where it is the document as a whole. */
  readonly field: string
  /** Towards a client, where it is the client's. */
  readonly reason: Reason

  constructor(field: string, message: string, reason: Reason = 'parameter_invalid') {
    super(message)
    this.field = field
    this.reason = reason
  }
}

/** A list of one that is empty: the provider has nothing of this id. */
export class EmptyResponse extends WireError {
  constructor(field: string) {
    super(field, 'it is empty')
  }
}
