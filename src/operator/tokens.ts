/** Authenticates operators by the tokens of `admin.tokens` (docs/contract.md §15). */
import { createHash, timingSafeEqual } from 'node:crypto'
import { BoundedMap } from '../core/bounded-map.ts'
import { Fault } from '../domain/faults/fault.ts'

const maxWrongPerMinute = 10
const windowMs = 60_000
const maxAddresses = 10_000
const bearer = /^Bearer ([\x21-\x7e]{1,512})$/i

interface WrongTokens {
  count: number
  readonly until: number
}

export class TokenCheck {
  private readonly tokens: () => Readonly<Record<string, string>>
  private readonly clock: () => number
  private readonly wrong = new BoundedMap<WrongTokens>({ maxEntries: maxAddresses, lifetimeMs: windowMs })

  /** `clock`: milliseconds, never set back. */
  constructor(tokens: () => Readonly<Record<string, string>>, clock: () => number) {
    this.tokens = tokens
    this.clock = clock
  }

  get isEnabled(): boolean {
    return Object.keys(this.tokens()).length > 0
  }

  /** The name of the token in an `Authorization` header. Throws 401, and 429 past ten wrong ones a minute from the address. */
  authenticate(authorization: string | undefined, address: string): string {
    const [, token] = bearer.exec(authorization ?? '') ?? []
    const name = token === undefined ? undefined : this.nameOf(token)
    if (name !== undefined) return name
    if (authorization === undefined)
      throw new Fault('unauthorized', 'Please send Authorization: Bearer <token>.', { reason: 'key_missing' })
    throw this.countWrong(address)
  }

  /** Whether the token is still one. */
  isValid(authorization: string): boolean {
    const [, token] = bearer.exec(authorization) ?? []
    return token !== undefined && this.nameOf(token) !== undefined
  }

  /** Compares with every token, so that the time reveals nothing. */
  private nameOf(token: string): string | undefined {
    const digest = digestOf(token)
    let found: string | undefined
    for (const [name, known] of Object.entries(this.tokens())) if (timingSafeEqual(digestOf(known), digest)) found = name
    return found
  }

  private countWrong(address: string): Fault {
    const now = this.clock()
    const known = this.wrong.get(address, now)
    const entry = known && now < known.until ? known : { count: 0, until: now + windowMs }
    entry.count++
    this.wrong.set(address, entry, now)
    if (entry.count <= maxWrongPerMinute) return new Fault('unauthorized', 'This token is not valid.', { reason: 'key_invalid' })
    const retryAfter = Math.ceil((entry.until - now) / 1000)
    return new Fault('limited', 'Too many wrong tokens; please wait.', { retryAfter })
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
