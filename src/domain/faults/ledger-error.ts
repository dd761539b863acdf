/** What a failure of the ledger means where it is more than "nothing was done". */

/** The store may or may not have made the change: it broke off after it was told to commit. */
export class UncertainChange extends Error {
  constructor(cause: unknown) {
    super('The ledger broke off before it confirmed a change.', { cause })
  }
}

/** The ledger holds something else already: to try again changes nothing. */
export class LedgerConflict extends Error {}
