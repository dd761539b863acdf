/** Failures of the ledger that do not mean "nothing was changed". */

/** The change may or may not have been made: the connection was lost during the commit. */
export class UncertainChange extends Error {
  constructor(cause: unknown) {
    super('The ledger broke off before it confirmed a change.', { cause })
  }
}

/** The account has as many creates without an outcome at this provider as it may have. Nothing was changed. */
export class TooManyOpenCreates extends Error {}

/** The ledger is silent, or does the work of others. Nothing was changed. */
export class LedgerBusy extends Error {}

/** An existing row contradicts the change. A retry is useless. */
export class LedgerConflict extends Error {}
