import { identityOf } from '../adapters/identity.ts'
import type { Config } from '../config.ts'
import type { Accounts } from '../core/accounts.ts'
import { authentication } from '../core/authentication.ts'

/** Whom a key stands for: itself where it is the provider's, an account where it was issued here. */
export function identification({ auth }: Config, accounts: Accounts): (key: string) => Promise<string | undefined> {
  if (auth.mode === 'passthrough') return async (key) => identityOf(key)
  return authentication({ accounts, digest: identityOf, clock: Date.now })
}
