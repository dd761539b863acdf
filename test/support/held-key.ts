import type { Accounts, Holding } from '../../src/core/accounts.ts'

/** What one key stands for, by its digest. */
export async function findKey(accounts: Accounts, digest: string): Promise<Holding | undefined> {
  return (await accounts.findKeys([digest])).get(digest)
}
