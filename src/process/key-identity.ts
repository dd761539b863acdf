import { hashKey } from '../adapters/crypto.ts'
import type { Config } from '../config/index.ts'
import type { Accounts } from '../core/access/authentication.ts'
import { authentication } from '../core/access/authentication.ts'
import type { Observer } from '../domain/observation.ts'

/** Identifies the caller of a key: by its hash if it is the provider's key, by its account if it was issued here. */
export function keyIdentity(
  { auth }: Config,
  accounts: Accounts,
  observe: Observer,
): (key: string, isQuote: boolean) => Promise<string | undefined> {
  if (auth.mode === 'passthrough') return async (key) => hashKey(key)
  return authentication({ accounts, digest: hashKey, clock: Date.now, observe })
}
