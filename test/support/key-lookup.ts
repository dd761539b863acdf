import type { Accounts, KeyRecord } from '../../src/core/access/authentication.ts'

/** The record of one key, by its digest. */
export async function findKey(accounts: Accounts, digest: string): Promise<KeyRecord | undefined> {
  return (await accounts.findKeys([digest])).get(digest)
}
