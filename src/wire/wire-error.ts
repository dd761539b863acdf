import type { Reason } from '../domain/fault.ts'

/** What is wrong with a value on the wire. The edge decides whose fault it is: the same codec serves clients and providers. */
export class WireError extends Error {
  /** The wire name at fault; empty for the whole document. */
  readonly field: string
  /** For the client, if the client is at fault. */
  readonly reason: Reason

  constructor(field: string, message: string, reason: Reason = 'parameter_invalid') {
    super(message)
    this.field = field
    this.reason = reason
  }
}

/** A list that should have one item is empty: the provider has nothing with this id. */
export class EmptyResponse extends WireError {
  constructor(field: string) {
    super(field, 'it is empty')
  }
}

/** All that is wrong with a client's request, 400 (`parameter_invalid` where a fault names no other reason), in the order in which it was read; at least one. */
export class InvalidRequest extends Error {
  readonly faults: readonly WireError[]
  /** What could be read. */
  readonly fields: Readonly<Record<string, unknown>>

  constructor(faults: readonly WireError[], fields: Readonly<Record<string, unknown>>) {
    super(faults.map(({ field, message }) => `${field}: ${message}`).join('; '))
    this.faults = faults
    this.fields = fields
  }
}
