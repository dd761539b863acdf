/** Who a key is that the operator issued (docs/contract.md §5, `managed`). */
import { Fault } from '../domain/fault.ts'
import { isKey } from '../domain/key.ts'
import type { Accounts, Holding } from './accounts.ts'
import { BoundedMap } from './bounded-map.ts'
import { keyLookup, type Lookup } from './key-lookup.ts'

/** The account's identity, or undefined where the key is malformed, unknown, expired or revoked. Throws a `Fault` where nobody can tell now. */
export type Authentication = (key: string) => Promise<string | undefined>

export interface AuthenticationOptions {
  readonly accounts: Pick<Accounts, 'findKeys'>
  /** One-way: the key itself is not kept. */
  readonly digest: (key: string) => string
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

type Finding = ReturnType<Lookup<Holding>>

/** How long what was looked up serves, from the moment it was asked: what the operator changes takes effect after that. */
const lifetime = 2_000
/** A bound on memory, for keys that exist and for the others. What is dropped is looked up again. */
const mostKept = 10_000
const retryAfter = 5

export function authentication({ accounts, digest, clock }: AuthenticationOptions): Authentication {
  const find = keeping(keyLookup((digests) => accounts.findKeys(digests)))
  return async (key) => {
    if (!isKey(key)) return undefined
    const holding = await find(digest(key)).catch(toUnavailable)
    return holding && isValid(holding, clock()) ? holding.account : undefined
  }
}

interface Kept {
  readonly finding: Finding
  readonly askedAt: number
}

/** Asks once for all who want the same within the lifetime. A failure serves only those who wait for it. */
function keeping(find: Lookup<Holding>): Lookup<Holding> {
  const existing = new BoundedMap<Kept>({ maxEntries: mostKept })
  const others = new BoundedMap<Kept>({ maxEntries: mostKept })
  return (digest) => {
    const now = performance.now()
    const last = existing.get(digest) ?? others.get(digest)
    if (last && now - last.askedAt < lifetime) return last.finding
    const found = { finding: find(digest), askedAt: now }
    existing.delete(digest)
    others.set(digest, found)
    const move = (holding: Holding | undefined): void => {
      if (holding) existing.set(digest, found)
      if (holding && others.get(digest) === found) others.delete(digest)
    }
    found.finding.then(move, () => {
      if (others.get(digest) === found) others.delete(digest)
    })
    return found.finding
  }
}

/** Revoked is revoked, whatever the clock of the machine says on which it was done. */
function isValid({ expiresAt, revokedAt }: Holding, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt)
}

function toUnavailable(cause: unknown): never {
  throw new Fault('unavailable', 'API keys cannot be checked now; please try again.', {
    cause,
    retryAfter,
    reason: 'ledger_unavailable',
  })
}
