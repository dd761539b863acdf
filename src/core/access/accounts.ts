/** Keys that the operator issues to accounts (docs/contract.md §5). Times are milliseconds since 1970. */

export interface IssuedKey {
  readonly id: string
  /** Name of the account. */
  readonly name: string
  readonly createdAt: number
  readonly expiresAt?: number | undefined
  readonly revokedAt?: number | undefined
}

/** What a key stands for. */
export interface KeyRecord {
  /** The account's identity: what limits and owners go by. It outlives the key. */
  readonly account: string
  readonly expiresAt?: number | undefined
  readonly revokedAt?: number | undefined
}

/** Of a key only its digest is kept. `actor`: who changes it by hand, for the audit log (`core/operations/audit.ts`). */
export interface Accounts {
  /** The account is made where the name is new. */
  readonly addKey: (key: IssuedKey, digest: string, actor: string) => Promise<void>
  /** By digest; those that are unknown are left out. */
  readonly findKeys: (digests: readonly string[]) => Promise<ReadonlyMap<string, KeyRecord>>
  /** All keys, the oldest first. */
  readonly listKeys: () => Promise<readonly IssuedKey[]>
  /** False where there is no such key, or it was revoked before. */
  readonly revokeKey: (id: string, at: number, actor: string) => Promise<boolean>
  /** Adds `key` for the account of the key `id`, which ends at `until` unless it ends sooner. False where `id` is no valid key. */
  readonly rotateKey: (id: string, until: number, key: Omit<IssuedKey, 'name'>, digest: string, actor: string) => Promise<boolean>
}
