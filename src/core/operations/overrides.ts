/** Overrides of the configuration file by operators: states, weights, shadow (docs/contract.md §12). */

/** `state:` is followed by the provider's tag, which a rename does not change. */
export type OverrideKey = `state:${string}` | 'weights' | 'shadow'

export interface Override {
  readonly key: OverrideKey
  /** A `ProviderState`; weights by tag; `{ provider, sample }` with a tag, or null for no shadow. */
  readonly value: unknown
  /** The file's value for the key when the override was made; null if there was none. */
  readonly fileValue: unknown
  readonly actor: string
  /** Milliseconds since 1970 on the database's clock. */
  readonly since: number
}

/** An override in the store, active or ended. */
export interface StoredOverride extends Override {
  /**
   * A replica read a file with another value for the key. Replicas whose file still has `fileValue` continue with the override until
   * they reload their file, so that a deployment in progress changes nothing for them.
   */
  readonly isEnded: boolean
}

export interface OverrideChange {
  readonly key: OverrideKey
  /** Undefined: the override is removed, and the file's value applies. */
  readonly value: unknown
  readonly fileValue: unknown
  readonly shown: ShownChange
}

/** A change as the audit log has it: with the names of providers. */
export interface ShownChange {
  readonly key: OverrideKey
  /** The values in effect. */
  readonly before: unknown
  readonly after: unknown
}

/** Port: the overrides in the ledger. */
export interface OverrideStore {
  /** Overrides that have not ended, sorted by key. */
  readonly read: () => Promise<readonly Override[]>
  /** All overrides, sorted by key. */
  readonly readAll: () => Promise<readonly StoredOverride[]>
  /**
   * Applies all changes with their audit records in one transaction. A value that is set already is not changed and gets no record.
   * False, without a change, if `expected` is given and `read` would return something else now. `resumed`: names of providers by
   * their tags; their suspensions of assets end (docs/contract.md §10.3), each provider's with a record.
   */
  readonly change: (
    changes: readonly OverrideChange[],
    actor: string,
    expected?: readonly Override[],
    resumed?: ReadonlyMap<string, string>,
  ) => Promise<boolean>
  /** Ends the override, because the file now has another value for its key. False if it does not exist or has already ended. */
  readonly end: (override: Override, shown: ShownChange) => Promise<boolean>
  /** Deletes an ended override, if it exists. */
  readonly forget: (override: Override) => Promise<void>
}
