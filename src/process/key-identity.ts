import { hashKey } from '../adapters/key-hash.ts'
import type { Config } from '../config/index.ts'
import type { Accounts } from '../core/access/accounts.ts'
import { authentication } from '../core/access/authentication.ts'

/** Whom a key stands for: itself where it is the provider's, an account where it was issued here. */
export function keyIdentity({ auth }: Config, accounts: Accounts): (key: string) => Promise<string | undefined> {
  if (auth.mode === 'passthrough') return async (key) => hashKey(key)
  return authentication({ accounts, digest: hashKey, clock: Date.now })
}
