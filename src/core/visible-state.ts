/** What an owner can see of a transaction: a change of it is an event (docs/contract.md §18.1). */
import type { Doubt, Status } from '../domain/status.ts'
import { isMoneySeen, type Transaction } from '../domain/swap.ts'
import type { TransactionRecord } from './ports/ledger.ts'

/**
 * Whether a change of the field is an event. None are the id and the times, the names of the coins, which follow from the coins, and what
 * no owner gets or only a get has.
 */
const isVisible: Readonly<Record<keyof Transaction, boolean>> = {
  status: true,
  attention: true,
  statusReason: true,
  amountIn: true,
  amountOut: true,
  rate: true,
  rateType: true,
  codeFrom: true,
  coinFrom: true,
  networkFrom: true,
  codeTo: true,
  coinTo: true,
  networkTo: true,
  depositAddress: true,
  depositExtraId: true,
  validUntil: true,
  withdrawalAddress: true,
  withdrawalExtraId: true,
  refundAddress: true,
  refundExtraId: true,
  refundHash: true,
  refundAmount: true,
  txHashIn: true,
  txHashOut: true,
  supportUrl: true,
  id: false,
  createdAt: false,
  updatedAt: false,
  coinNameFrom: false,
  coinNameTo: false,
  capabilities: false,
  contractFrom: false,
  contractTo: false,
  hasActions: false,
  hasDeposit: false,
  ownAssets: false,
  reference: false,
}

/** In the order in which stored digests have them. */
const visibleFields = (Object.keys(isVisible) as (keyof Transaction)[]).filter((field) => isVisible[field])

/** Equal for two states that the owner cannot tell apart. A provider that touches its `updatedAt` alone has changed nothing. */
export function visibleState(record: TransactionRecord): string {
  const transaction = visible(record)
  return JSON.stringify([visibleFields.map((field) => transaction[field] || null), record.quotedAmountOut ?? null])
}

/** Whether their `visibleState` differs, in 0.5 µs in place of 2: each get with a client's own key asks. */
export function differsVisibly(one: TransactionRecord, other: TransactionRecord): boolean {
  const [first, second] = [visible(one), visible(other)]
  return one.quotedAmountOut !== other.quotedAmountOut || hasOther(first, second) || hasOther(second, first)
}

/** What a get may add to the response of a create: it tells of no change. */
const addedByGets: ReadonlySet<string> = new Set<keyof Transaction>([
  ...([
    'amountOut',
    'rate',
    'rateType',
    'validUntil',
    'txHashIn',
    'supportUrl',
    'txHashIn',
    'refundAddress',
    'refundExtraId',
    'withdrawalExtraId',
  ] as const),
  ...(['codeFrom', 'coinFrom', 'networkFrom', 'codeTo', 'coinTo', 'networkTo'] as const),
])

/** Whether the second state is the first one, of which a get may know more. What the gateway derived may be written in another way. */
export function isStillSo(first: TransactionRecord, second: TransactionRecord): boolean {
  const [before, now] = [visible(first), visible(second)]
  const isSame = (field: keyof Transaction): boolean =>
    (before[field] || null) === (now[field] || null) || (!before[field] && addedByGets.has(field)) || first.derived.includes(field)
  return visibleFields.every(isSame)
}

function hasOther(one: Transaction, other: Transaction): boolean {
  for (const field in one) {
    const key = field as keyof Transaction
    const [value, otherValue] = [one[key], other[key]]
    if (value !== otherValue && (value || otherValue) && isVisible[key]) return true
  }
  return false
}

function visible(record: TransactionRecord): Transaction {
  const payable = onlyPayable(record)
  return record.ownerAttention === undefined ? payable : { ...payable, attention: record.ownerAttention }
}

// Whether a transaction's deposit address may be shown: nothing may be paid for one that is contradicted or has failed (docs/contract-operators.md §10.3).

type Doubtful = Pick<TransactionRecord, 'transaction' | 'doubt' | 'changedAt'>

const ended: ReadonlySet<Status | undefined> = new Set<Status>(['success', 'refunded', 'overdue'])
const unpaid: ReadonlySet<Status | undefined> = new Set<Status | undefined>([undefined, 'wait'])

/** What speaks against the transaction; undefined for one that has ended. */
export function doubtAbout({ transaction, doubt }: Doubtful): Doubt | undefined {
  if (ended.has(transaction.status)) return undefined
  return doubt ?? (transaction.attention === 'failed' ? 'failed' : undefined)
}

/** The transaction without its deposit address, if that may not be paid. */
export function onlyPayable(record: Doubtful): Transaction {
  const { transaction } = record
  const doubt = doubtAbout(record)
  return doubt === undefined || (doubt === 'failed' && hasMoney(record)) ? transaction : withoutDeposit(transaction)
}

/** Whether a deposit was seen. The status of one that was found failed stands for none. */
function hasMoney({ transaction, changedAt }: Doubtful): boolean {
  return isMoneySeen(transaction) || (!unpaid.has(transaction.status) && changedAt !== undefined)
}

/**
 * Whether what is told of an earlier state may have its deposit address, by what the ledger has now. `latest`: undefined where it has nothing.
 */
export function mayShowDeposit(earlier: Doubtful, latest: Doubtful | undefined): boolean {
  if (latest === undefined || onlyPayable(latest) !== latest.transaction) return false
  return doubtAbout(latest) === undefined || doubtAbout(earlier) !== undefined
}

export function withoutDeposit(transaction: Transaction): Transaction {
  return { ...transaction, depositAddress: undefined, depositExtraId: undefined }
}
