/**
 * Ids of intents that go up as the reference of an order: whoever knows an account can tell whether the order is its own, also where the
 * ledger has lost the intent (docs/contract-operators.md §10.6). They say nothing of the account to anybody else.
 */
import { randomBytes } from 'node:crypto'
import { hashKey } from '../adapters/crypto.ts'

const randomCount = 10

/** A UUID of version 8 (RFC 9562): 74 random bits, then 48 of a digest of them and the owner. */
export function intentIdOf(owner: string): string {
  const random = randomBytes(randomCount)
  random[6] = 0x80 | ((random[6] ?? 0) & 0x0f)
  random[8] = 0x80 | ((random[8] ?? 0) & 0x3f)
  const digits = random.toString('hex')
  return asUuid(digits + digestOf(digits, owner))
}

export function isIntentIdOf(id: string, owner: string): boolean {
  const digits = id.toLowerCase().replaceAll('-', '')
  const random = digits.slice(0, 2 * randomCount)
  return id.toLowerCase() === asUuid(random + digestOf(random, owner))
}

function digestOf(random: string, owner: string): string {
  return hashKey(`${random} ${owner}`).slice(0, 12)
}

function asUuid(digits: string): string {
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join('-')
}
