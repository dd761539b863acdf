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
    description: 'Rows of the ledger that are not final, over all providers that are shown.',
    unit: 'short',
    queries: { open: `sum(${shared('swapgate_transactions_open', 'provider, status', chosen)})` },
  }),
  figure({
    title: 'Oldest open',
    description:
      'Age of the oldest transaction that is not final. Days: ask the provider about it; `swapgate ledger export` finds it.',
    unit: 's',
    queries: { age: `max(${series('swapgate_transactions_oldest_open_seconds', chosen)})` },
    thresholds: [[86_400, 'orange']],
  }),
  figure({
    title: 'Outcome unknown',
    description:
      'Creates of which nobody knows whether they happened. The gateway looks for them; what stays for 15 minutes needs you.',
    runbooks: ['SwapgateCreatesUnknown'],
    unit: 'short',
    queries: { unknown: unresolved('unknown') },
    thresholds: [[1, 'orange']],
  }),
  figure({
    title: 'Mismatch',
    description:
      'Creates whose answer contradicts the question: another address, coin or network. No client got that address. Settle each by hand.',
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
    title: 'Under way',
    description: 'Creates that were sent and have no outcome yet. It goes back to 0 within a minute after the last create.',
    runbooks: ['SwapgateReconciliationStuck'],
    unit: 'short',
    queries: { pending: unresolved('pending') },
  }),
  figure({
    title: 'Last look for unknown creates',
    description: 'Time since a round of looking last ended well, in the replica that looked last. A round comes each second.',
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
      'The way of a swap: wait, confirmation, confirmed, exchanging, sending. A status that swells while the next is empty is where the provider is stuck.',
    unit: 'short',
    queries: { '{{status}}': `sum by (status) (${shared('swapgate_transactions_open', 'provider, status', chosen)})` },
  }),
  graph({
    title: 'Open transactions over time',
    description:
      'Many in wait are customers who did not pay, which is normal. Many in exchanging or sending are customers who wait for their money.',
    unit: 'short',
    queries: { '{{provider}} {{status}}': shared('swapgate_transactions_open', 'provider, status', chosen) },
    isStacked: true,
  }),
  graph({
    title: 'Age of the oldest open',
    description: 'A line that grows for days: one transaction never ends. Ask the provider.',
    unit: 's',
    queries: { '{{provider}}': shared('swapgate_transactions_oldest_open_seconds', 'provider', chosen) },
  }),
]

const ledger = [
  graph({
    title: 'Ledger, p99 by action',
    description: 'A create waits for two writes. Over 0.1 s: look at the disk, or at the database.',
    runbooks: ['SwapgateLedgerSlow'],
    unit: 's',
    queries: { '{{action}}': quantile(0.99, 'swapgate_ledger_duration_seconds', 'action') },
    thresholds: [[0.1, 'red']],
  }),
  graph({
    title: 'Ledger, actions a second',
    description: 'What the ledger is asked to do.',
    unit: 'ops',
    queries: { '{{action}}': rate('swapgate_ledger_duration_seconds_count', 'action') },
    isStacked: true,
  }),
  graph({
    title: 'What the ledger could not do',
    description: 'Not 0: creates and reads answer 503, quotes go on.',
    runbooks: ['SwapgateLedgerFailing'],
    unit: 'ops',
    queries: { '{{action}}': rate('swapgate_ledger_failures_total', 'action') },
    thresholds: [[0.001, 'red']],
  }),
]

export const transactions = board({
  name: 'transactions',
  title: 'Transactions',
  description: 'What became of creates, what is in doubt, and how far the open swaps are.',
  chooses: ['provider'],
  rows: { Now: now, 'Open transactions': funnel, Creates: creates, 'The ledger': ledger },
})
