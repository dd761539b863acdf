/** Records of provider tags in the ledger. A tag is part of transaction ids, so it is permanent (docs/contract.md §4, docs/contract-operators.md §10.5). */

export interface TagRecord {
  readonly tag: string
  /** Whether the ledger has transactions of this tag, or creates. */
  readonly isUsed: boolean
  /** As last configured. Absent if no process has saved it. */
  readonly form?: string
  /** Without credentials. */
  readonly url?: string
  /** Also absent if an older version has saved it. */
  readonly account?: string
}

/** A tag as it is configured. `url` without credentials. */
export interface ConfiguredTag {
  readonly tag: string
  readonly form: string
  readonly url: string
  readonly account: string
}

export interface TagRecords {
  /** The records of these tags and of all recorded ones. */
  readonly read: (tags: readonly string[]) => Promise<readonly TagRecord[]>
  readonly save: (tags: readonly ConfiguredTag[]) => Promise<void>
}
