/** Creates and facts to keep. */
import { randomUUID } from 'node:crypto'
import type { Entry, Facts, Intent, Ledger } from '../../src/core/ledger.ts'
import { type Amount, toAmount } from '../../src/domain/amount.ts'
import type { NewTransaction, Transaction } from '../../src/domain/swap.ts'

export function amount(lexeme: string): Amount {
  return toAmount(lexeme) as Amount
}

export const asked: NewTransaction = {
  codeFrom: 'BTC',
  coinFrom: 'BTC',
  networkFrom: 'BTC',
  codeTo: 'USDTTRC20',
  coinTo: 'USDT',
  networkTo: 'TRX',
  amountIn: amount('0.123456789012345678'),
  withdrawalAddress: 'TWithdraw1',
  refundAddress: 'bc1q-refund',
  rateType: 'float',
}

/** A name that no other test uses. */
export function unique(name: string): string {
  return `${name}-${randomUUID()}`
}

export function intent(fields: Partial<Intent> = {}): Intent {
  const attemptedAt = fields.attemptedAt ?? Date.now()
  return { id: randomUUID(), owner: 'owner', provider: 'alpha', asked, attemptedAt, lookAt: attemptedAt + 10_000, ...fields }
}

export function facts(id: string, transaction: Partial<Transaction> = {}, more: Partial<Facts> = {}): Facts {
  const seenAt = more.seenAt ?? Date.now()
  const createdAt = new Date(seenAt).toISOString()
  const told: Transaction = { ...asked, id, status: 'wait', depositAddress: `to-${id}`, createdAt, ...transaction }
  return { transaction: told, derived: [], seenAt, ...more }
}

/** Keeps them over whatever is kept of the transaction by then. */
export async function see(ledger: Ledger, owner: string, provider: string, seen: Facts): Promise<Entry | undefined> {
  for (;;) {
    const before = await ledger.find(owner, provider, seen.transaction.id)
    const kept = await ledger.see(owner, provider, seen, before)
    if (!kept || kept.sequence === seen.sequence) return kept
  }
}

export const always = { first: -(2n ** 80n), last: 2n ** 80n }

/** As many at once as a gateway may have. */
export async function eachOf<T>(items: readonly T[], action: (item: T) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < items.length; n += 50) await Promise.all(items.slice(n, n + 50).map(action))
}
