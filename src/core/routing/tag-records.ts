/** What the ledger remembers of each provider's tag: an id names its provider by it, for good (docs/contract.md §4, §10.5). */

export interface TagRecord {
  readonly tag: string
  /** Whether the ledger has transactions of this tag, or creates. */
  readonly isUsed: boolean
  /** As last configured; absent where no process has noted it. */
  readonly form?: string
  /** Without credentials. */
  readonly url?: string
}

/** A tag as it is configured. `url` without credentials. */
export interface ConfiguredTag {
  readonly tag: string
  readonly form: string
  readonly url: string
}

export interface TagRecords {
  /** These tags, and all that are remembered. */
  readonly read: (tags: readonly string[]) => Promise<readonly TagRecord[]>
  readonly save: (tags: readonly ConfiguredTag[]) => Promise<void>
}
