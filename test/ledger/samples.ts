/** Sample creates and facts. */
import { randomUUID } from 'node:crypto'
import type { Intent, Ledger, LedgerEntry, TransactionRecord } from '../../src/core/ports/ledger.ts'
import { type Amount, toAmount } from '../../src/domain/amount.ts'
import type { NewTransaction, Transaction } from '../../src/domain/swap.ts'

export function amount(lexeme: string): Amount {
  return toAmount(lexeme) as Amount
}

export const requested = {
  codeFrom: 'BTC',
  coinFrom: 'BTC',
  networkFrom: 'BTC',
  codeTo: 'USDTTRC20',
  coinTo: 'USDT',
  networkTo: 'TRX',
  amountIn: amount('0.123456789012345678'),
  withdrawalAddress: 'TWithdraw1',
  refundAddress: 'bc1q-refund',
  rateType: 'float' as const,
} satisfies NewTransaction

/** A name that no other test uses. */
export function unique(name: string): string {
  return `${name}-${randomUUID()}`
}

export function intent(fields: Partial<Intent> = {}): Intent {
  const attemptedAt = fields.attemptedAt ?? Date.now()
  return {
    id: randomUUID(),
    owner: 'owner',
    provider: 'alpha',
    requested,
    attemptedAt,
    nextCheckAt: attemptedAt + 10_000,
    ...fields,
  }
}

let testNumber = 0

/** Deposit addresses of samples are other ones from now on: tests that share a ledger have no swap of each other's address. */
export function beginTest(): void {
  testNumber++
}

export function depositOf(id: string): string {
  return `to-${id}-${testNumber}`
}

export function facts(
  id: string,
  transaction: Partial<Transaction> = {},
  more: Partial<TransactionRecord> = {},
): TransactionRecord {
  const reportedAt = more.reportedAt ?? Date.now()
  const createdAt = new Date(reportedAt).toISOString()
  const reported: Transaction = { ...requested, id, status: 'wait', depositAddress: depositOf(id), createdAt, ...transaction }
  return { transaction: reported, derived: [], reportedAt, ...more }
}

/** Keeps them over whatever is kept of the transaction by then. */
export async function upsert(
  ledger: Ledger,
  owner: string,
  provider: string,
  record: TransactionRecord,
): Promise<LedgerEntry | undefined> {
  for (;;) {
    const before = await ledger.find(owner, provider, record.transaction.id)
    const kept = await ledger.upsert(owner, provider, record, before)
    if (!kept || kept.sequence === record.sequence) return kept
  }
}

export const always = { first: -(2n ** 80n), last: 2n ** 80n }

/** Few at once: of many that write to one account, the last would wait longer than the ledger lets them on a busy machine. */
export async function eachOf<T>(items: readonly T[], action: (item: T) => Promise<unknown>): Promise<void> {
  const atOnce = 10
  for (let n = 0; n < items.length; n += atOnce) await Promise.all(items.slice(n, n + atOnce).map(action))
}
