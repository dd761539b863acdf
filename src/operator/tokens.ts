/** Authenticates operators by the tokens of `admin.tokens` (docs/contract-operators.md §15). */
import { createHash, timingSafeEqual } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { clientNetworkOf } from '../core/access/client-address.ts'
import { BoundedMap, cacheShares } from '../domain/bounded-map.ts'
import { Fault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { type OperatorRole, type OperatorToken, tokenRoles, tokenText } from '../domain/operator-role.ts'
import type { OperatorLocals } from './route.ts'

type Operator = Omit<OperatorLocals, 'shown'>

const maxWrongPerMinute = 10
const windowMs = 60_000
const maxAddresses = 10_000
/** An address with too many is answered after this time, so that guessing is slow; but not so many of them that they cost something. */
const slowAnswerMs = 1_000
const maxSlowAnswers = 20
const bearer = /^Bearer ([\x21-\x7e]{1,512})$/i

interface WrongTokens {
  count: number
  readonly until: number
}

export interface TokenCheckOptions {
  readonly tokens: () => Readonly<Record<string, OperatorToken>>
  /** Milliseconds, never set back. */
  readonly clock: () => number
  /** Default: by a timer. */
  readonly wait?: (milliseconds: number) => Promise<unknown>
  readonly observe: Observer
}

export class TokenCheck {
  private readonly options: TokenCheckOptions
  private slowAnswers = 0
  private readonly wrong = new BoundedMap<WrongTokens>({
    share: cacheShares.limits,
    maxEntries: maxAddresses,
    lifetimeMs: windowMs,
  })

  constructor(options: TokenCheckOptions) {
    this.options = options
  }

  get isEnabled(): boolean {
    return Object.keys(this.options.tokens()).length > 0
  }

  /**
   * The name and the roles of the token in an `Authorization` header. Throws 401, and 429 past ten wrong ones a minute from the address: after a second,
   * or at once while too many wait. A right token never waits.
   */
  async authenticate(authorization: string | undefined, address: string): Promise<Operator> {
    const [, token] = bearer.exec(authorization ?? '') ?? []
    const operator = token === undefined ? undefined : this.operatorOf(token)
    if (operator) return operator
    if (authorization === undefined)
      throw new Fault('unauthorized', 'Please send Authorization: Bearer <token>.', { reason: 'key_missing' })
    const refusal = this.countWrong(clientNetworkOf(address))
    if (refusal.kind === 'limited') await this.slowDown()
    throw refusal
  }

  /** Whether the token is still one, with these roles. */
  isValid(authorization: string, roles: readonly OperatorRole[]): boolean {
    const [, token] = bearer.exec(authorization) ?? []
    const operator = token === undefined ? undefined : this.operatorOf(token)
    return operator?.roles.join() === roles.join()
  }

  /** Compares with every token, so that the time reveals nothing. */
  private operatorOf(token: string): Operator | undefined {
    const digest = digestOf(token)
    let found: Operator | undefined
    for (const [actor, known] of Object.entries(this.options.tokens()))
      if (timingSafeEqual(digestOf(tokenText(known)), digest)) found = { actor, roles: tokenRoles(known) }
    return found
  }

  private async slowDown(): Promise<void> {
    if (this.slowAnswers >= maxSlowAnswers) return
    this.slowAnswers++
    await (this.options.wait ?? waitUnreferenced)(slowAnswerMs)
    this.slowAnswers--
  }

  private countWrong(address: string): Fault {
    const { clock, observe } = this.options
    const now = clock()
    const known = this.wrong.get(address, now)
    const entry = known && now < known.until ? known : { count: 0, until: now + windowMs }
    entry.count++
    observe({ what: 'operatorTokenRefused', address, isFirst: entry.count === 1 })
    this.wrong.set(address, entry, now)
    if (entry.count <= maxWrongPerMinute) return new Fault('unauthorized', 'This token is not valid.', { reason: 'key_invalid' })
    const retryAfter = Math.ceil((entry.until - now) / 1000)
    return new Fault('limited', 'Too many wrong tokens; please wait.', { retryAfter })
  }
}

/** Does not keep the process alive. */
function waitUnreferenced(milliseconds: number): Promise<unknown> {
  return delay(milliseconds, undefined, { ref: false })
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
