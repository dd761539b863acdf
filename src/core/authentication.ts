/** Who a key is that the operator issued (`spec/contract.md` §5, `managed`). */
import { Fault } from '../domain/fault.ts'
import { isKey } from '../domain/key.ts'
import type { Accounts, Holding } from './accounts.ts'

/** The account's identity, or undefined where the key is malformed, unknown, expired or revoked. Throws a `Fault` where nobody can tell now. */
export type Authentication = (key: string) => Promise<string | undefined>

export interface AuthenticationOptions {
  readonly accounts: Pick<Accounts, 'findKey'>
  /** One-way: the key itself is not kept. */
  readonly digest: (key: string) => string
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

type Finding = Promise<Holding | undefined>

/** How long what was looked up serves, from the moment it was asked: what the operator changes takes effect after that. */
const lifetime = 2_000
/** A bound on memory. Who guesses keys fills it; then all is looked up anew, which costs less than an order of age. */
const mostKept = 10_000
const retryAfter = 5

export function authentication({ accounts, digest, clock }: AuthenticationOptions): Authentication {
  const find = keeping(async (known) => accounts.findKey(known))
  return async (key) => {
    if (!isKey(key)) return undefined
    const holding = await find(digest(key)).catch(toUnavailable)
    return holding && isValid(holding, clock()) ? holding.account : undefined
  }
}

/** Asks once for all who want the same within the lifetime. A failure serves only those who wait for it. */
function keeping(find: (digest: string) => Finding): (digest: string) => Finding {
  const kept = new Map<string, { readonly finding: Finding; readonly askedAt: number }>()
  return (digest) => {
    const now = performance.now()
    const last = kept.get(digest)
    if (last && now - last.askedAt < lifetime) return last.finding
    if (kept.size >= mostKept) kept.clear()
    const finding = find(digest)
    kept.set(digest, { finding, askedAt: now })
    finding.catch(() => kept.get(digest)?.finding === finding && kept.delete(digest))
    return finding
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
