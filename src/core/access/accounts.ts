/** Keys that the operator issues to accounts (docs/contract.md §5). Times are milliseconds since 1970. */

/** An issued key, without the key itself. */
export interface IssuedKey {
  readonly id: string
  /** Name of the account. */
  readonly name: string
  readonly createdAt: number
  readonly expiresAt?: number | undefined
  readonly revokedAt?: number | undefined
}

/** The ledger's record for the digest of a key. Times are milliseconds since 1970. */
export interface KeyRecord {
  /** The account's identity: the subject of limits and the owner of transactions. It outlives the key. */
  readonly account: string
  readonly expiresAt?: number | undefined
  readonly revokedAt?: number | undefined
}

/** The store of issued keys. It keeps only the digest of a key. `actor`: the operator, for the audit log (`core/operations/audit.ts`). */
export interface Accounts {
  /** Creates the account if the name is new. */
  readonly addKey: (key: IssuedKey, digest: string, actor: string) => Promise<void>
  /** Records by digest. Unknown digests are omitted. */
  readonly findKeys: (digests: readonly string[]) => Promise<ReadonlyMap<string, KeyRecord>>
  /** All keys, oldest first. */
  readonly listKeys: () => Promise<readonly IssuedKey[]>
  /** False if the key does not exist or is already revoked. */
  readonly revokeKey: (id: string, at: number, actor: string) => Promise<boolean>
  /** Adds `key` to the account of the key `id`. The old key expires at `until` at the latest. False if `id` is not a valid key. */
  readonly rotateKey: (id: string, until: number, key: Omit<IssuedKey, 'name'>, digest: string, actor: string) => Promise<boolean>
}
