/** What a person has set in place of the configuration file: states, weights, shadow (docs/contract.md §12). */

/** `state:` stands before the provider's name. */
export type OverrideKey = `state:${string}` | 'weights' | 'shadow'

export interface Override {
  readonly key: OverrideKey
  /** A `ProviderState`; weights by name; `{ provider, sample }`, or null for no shadow. */
  readonly value: unknown
  /** What the file said for the key when this was made; null where it said nothing. */
  readonly fileValue: unknown
  readonly actor: string
  /** Milliseconds since 1970 on the database's clock. */
  readonly since: number
}

/** One that a replica may still go by, or not any more. */
export interface StoredOverride extends Override {
  /**
   * A replica read a file that says something else for the key. Replicas whose file still says what it said go on with it until
   * they read their file anew, so that a deployment in progress changes nothing for them.
   */
  readonly isEnded: boolean
}

export interface OverrideChange {
  readonly key: OverrideKey
  /** Undefined: the override is removed, and the file counts. */
  readonly value: unknown
  readonly fileValue: unknown
  /** What was in force, for the audit log. */
  readonly before: unknown
}

export interface OverrideStore {
  /** Those that have not ended, by their keys. */
  readonly read: () => Promise<readonly Override[]>
  /** All, by their keys. */
  readonly readAll: () => Promise<readonly StoredOverride[]>
  /**
   * Sets or removes all of them with their audit records, in one transaction. What is set already stays as it is, without a record.
   * False where `expected` is given and is not what `read` would return by now: then nothing changes.
   */
  readonly change: (changes: readonly OverrideChange[], actor: string, expected?: readonly Override[]) => Promise<boolean>
  /** The file says `fileValue` for the key of this override, which ends. False where it is not there any more, or has ended. */
  readonly end: (override: Override, fileValue: unknown) => Promise<boolean>
  /** Removes an override that has ended, if it is still there. */
  readonly forget: (override: Override) => Promise<void>
}
