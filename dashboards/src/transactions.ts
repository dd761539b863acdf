import { board } from './board.ts'
import { creates } from './creates.ts'
import { quantile, rate, series, shared } from './expression.ts'
import { bars, figure, graph } from './panel.ts'

const chosen = 'provider=~"$provider"'
const unresolved = (state: string): string =>
  `sum(${shared('swapgate_creates_unresolved', 'provider', `state="${state}", ${chosen}`)})`

const now = [
  figure({
    title: 'Open transactions',
    description: 'Transactions in the ledger that are not final, at the selected providers.',
    unit: 'short',
    queries: { open: `sum(${shared('swapgate_transactions_open', 'provider, status', chosen)})` },
  }),
  figure({
    title: 'Oldest open transaction',
    description:
      'Age of the oldest transaction that is not final. Days: find it with `swapgate ledger export`, and ask the provider.',
    unit: 's',
    queries: { age: `max(${series('swapgate_transactions_oldest_open_seconds', chosen)})` },
    thresholds: [[86_400, 'orange']],
  }),
  figure({
    title: 'Creates of unknown outcome',
    description: 'It is unknown whether these swaps exist. Reconciliation looks for them; one that stays for 15 minutes needs you.',
    runbooks: ['SwapgateCreatesUnknown'],
    unit: 'short',
    queries: { unknown: unresolved('unknown') },
    thresholds: [[1, 'orange']],
  }),
  figure({
    title: 'Mismatch',
    description:
      'Creates whose response contradicts the request: another address, coin or network. No client got that address. Resolve each by hand.',
    runbooks: ['SwapgateCreateMismatch'],
    unit: 'short',
    queries: { mismatch: unresolved('mismatch') },
    thresholds: [[1, 'red']],
  }),
  figure({
    title: 'Needs a person',
    description: 'Transactions that a provider reports as failed or held. Settle each by hand, if the provider reports no end.',
    runbooks: ['SwapgateTransactionNeedsPerson'],
    unit: 'short',
    queries: { transactions: `sum(${shared('swapgate_transactions_need_person', 'provider, attention', chosen)})` },
    thresholds: [[1, 'orange']],
  }),
  figure({
    title: 'Creates in progress',
    description: 'Creates that were sent and have no outcome yet. Returns to 0 within a minute after the last create.',
    runbooks: ['SwapgateReconciliationStuck'],
    unit: 'short',
    queries: { pending: unresolved('pending') },
  }),
  figure({
    title: 'Time since reconciliation last ran',
    description: 'Time since a run of reconciliation last succeeded, in any replica. It runs every second.',
    runbooks: ['SwapgateReconciliationStuck'],
    unit: 's',
    queries: { ago: `time() - max(${series('swapgate_reconciliation_last_run_timestamp_seconds')})` },
    thresholds: [[60, 'red']],
  }),
]

const funnel = [
  bars({
    title: 'Open transactions by status',
    description:
      'In the order of a swap: wait, confirmation, confirmed, exchanging, sending. One status grows while the next is empty: the provider is stuck there.',
    unit: 'short',
    queries: { '{{status}}': `sum by (status) (${shared('swapgate_transactions_open', 'provider, status', chosen)})` },
  }),
  graph({
    title: 'Open transactions over time',
    description:
      'Many in wait: customers who did not pay, which is normal. Many in exchanging or sending: customers who wait for their money.',
    unit: 'short',
    queries: { '{{provider}} {{status}}': shared('swapgate_transactions_open', 'provider, status', chosen) },
    isStacked: true,
  }),
  graph({
    title: 'Age of the oldest open transaction by status',
    description: 'A line that grows for days: one transaction does not end. Ask the provider.',
    unit: 's',
    queries: { '{{provider}}': shared('swapgate_transactions_oldest_open_seconds', 'provider', chosen) },
  }),
]

const ledger = [
  graph({
    title: 'Ledger, p99 by action',
    description: 'A create waits for two writes. Above 0.1 s: look at the disk, or at the database.',
    runbooks: ['SwapgateLedgerSlow'],
    unit: 's',
    queries: { '{{action}}': quantile(0.99, 'swapgate_ledger_duration_seconds', 'action') },
    thresholds: [[0.1, 'red']],
  }),
  graph({
    title: 'Ledger, actions per second',
    description: 'Reads and writes of the ledger, by action.',
    unit: 'ops',
    queries: { '{{action}}': rate('swapgate_ledger_duration_seconds_count', 'action') },
    isStacked: true,
  }),
  graph({
    title: 'Failures of the ledger',
    description: 'Above 0: creates and reads get 503, quotes continue.',
    runbooks: ['SwapgateLedgerFailing'],
    unit: 'ops',
    queries: { '{{action}}': rate('swapgate_ledger_failures_total', 'action') },
    thresholds: [[0.001, 'red']],
  }),
]

export const transactions = board({
  name: 'transactions',
  title: 'Transactions',
  description: 'Outcomes of creates, unresolved creates, and open swaps by status.',
  chooses: ['provider'],
  rows: { Now: now, 'Open transactions': funnel, Creates: creates, 'The ledger': ledger },
})
