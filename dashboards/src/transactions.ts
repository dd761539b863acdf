import { board } from './board.ts'
import { creates } from './creates.ts'
import { count, quantile, rate, series, shared } from './expression.ts'
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
    description:
      'Transactions that failed, are held or lost at their provider, or have a status that no table knows. Settle each by hand, if the provider reports no end.',
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
  figure({
    title: 'Time since a search for lost creates failed',
    description: 'Time since the last search in the list of each provider that failed, in any replica. Empty: none has.',
    runbooks: ['SwapgateSearchFailing'],
    unit: 's',
    queries: {
      '{{provider}}': `time() - max by (provider) (${series('swapgate_reconciliation_last_search_timestamp_seconds', 'result="failed"')})`,
    },
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
    queries: { '{{provider}} {{status}}': shared('swapgate_transactions_open_age_seconds', 'provider, status', chosen) },
  }),
  graph({
    title: 'Watched swaps',
    description: 'Open swaps of which a stream or a webhook of a client wants to know. The gateway reads them by itself.',
    unit: 'short',
    span: 12,
    queries: { '{{provider}}': shared('swapgate_watched_transactions', 'provider', chosen) },
  }),
  graph({
    title: 'Watched swaps: since the last read',
    description: 'Of the one that was not read for the longest. It grows: reads fail, or the quota for them is too small.',
    runbooks: ['SwapgateWatchedTransactionsUnread', 'SwapgateUpstreamQuotaUsedUp'],
    unit: 's',
    span: 12,
    queries: { '{{provider}}': shared('swapgate_watched_transactions_oldest_read_seconds', 'provider', chosen) },
  }),
  graph({
    title: 'Webhooks: attempts',
    description:
      'By what became of them. retried: the receiver did not answer with a 2xx, and is told again. failed: for good. gone: it answered 410. held: no key reads the secret of the webhook.',
    runbooks: ['SwapgateWebhookFailed'],
    unit: 'ops',
    queries: { '{{outcome}}': rate('swapgate_webhook_attempts_total', 'outcome') },
  }),
  graph({
    title: 'Webhooks: changes that wait',
    description: 'Of which a webhook was not told yet, counted up to 10,000. They grow: a receiver is down, or too slow.',
    unit: 'short',
    queries: { waiting: `max(${series('swapgate_webhook_deliveries_waiting')})` },
  }),
  graph({
    title: 'Webhooks: the oldest change that waits',
    description: 'How long it has waited. A line that grows for hours: one receiver does not answer.',
    unit: 's',
    queries: { age: `max(${series('swapgate_webhook_deliveries_oldest_waiting_seconds')})` },
  }),
  bars({
    title: 'Actions on swaps',
    description:
      'In the selected time: refunds, continued swaps, refund addresses, by what became of them. unknown: it may have been carried out; the gateway looks, and counts found or not_done.',
    unit: 'short',
    span: 24,
    queries: {
      '{{provider}} {{action}} {{outcome}}': `${count('swapgate_actions_total', 'provider, action, outcome', chosen)} or vector(0)`,
    },
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
  graph({
    title: 'Troubles of the ledger',
    description:
      'What the server of the ledger, its disk or the way to it refuses, by cause: credentials, a certificate (tls_…), read_only (a standby), full (its disk), refused (nothing listens). The line store_trouble in the log says what to set.',
    runbooks: ['SwapgateLedgerFailing', 'SwapgateLedgerServerDiskFull'],
    unit: 'ops',
    queries: { '{{instance}} {{cause}}': rate('swapgate_store_troubles_total', 'instance, cause', 'store="ledger"') },
    thresholds: [[0.001, 'red']],
  }),
  graph({
    title: 'Waiting for the ledger',
    description:
      'How long the first read, or the first write that is no result of a create, has waited for a connection (SQLite: for a commit). Seconds: the ledger hangs, or has fewer connections than this load needs.',
    runbooks: ['SwapgateLedgerSlow'],
    unit: 's',
    queries: { '{{instance}} {{work}}': series('swapgate_ledger_wait_seconds') },
    thresholds: [[0.6, 'red']],
  }),
  graph({
    title: 'No turn at the ledger',
    description:
      'Creates, gets and lists that got no turn in 0.6 s, since their account had too many others, and quotes that went by what was known of their key. Above 0: the ledger is too slow for this load.',
    runbooks: ['SwapgateLedgerSlow'],
    unit: 'reqps',
    queries: {
      '{{work}} refused': rate('swapgate_ledger_turns_refused_total', 'work'),
      'quotes by a key as it was': rate('swapgate_stale_keys_total', ''),
    },
    thresholds: [[0.001, 'orange']],
  }),
  graph({
    title: 'Connections to PostgreSQL',
    description: 'Of each process. All in use for long: the server is slow, or `ledger.connections` is too low.',
    runbooks: ['SwapgateSaturated'],
    unit: 'short',
    queries: {
      '{{instance}} {{db_client_connection_state}}': series('db_client_connection_count'),
      '{{instance}} most': series('db_client_connection_max'),
    },
  }),
  graph({
    title: 'Size of the ledger',
    description: 'The SQLite file with its log, or the PostgreSQL database. It grows with the swaps: `ledger.keep` bounds it.',
    runbooks: ['SwapgateLedgerDiskFull', 'SwapgateLedgerServerDiskFull'],
    unit: 'bytes',
    queries: { '{{instance}}': series('swapgate_ledger_size_bytes') },
  }),
  graph({
    title: 'Free on the disk of SQLite',
    description: 'Share of the volume with the file that is free. It pages below a tenth, and if it is full in a day at this rate.',
    runbooks: ['SwapgateLedgerDiskFull'],
    unit: 'percentunit',
    max: 1,
    queries: {
      '{{instance}}': `${series('swapgate_ledger_filesystem_avail_bytes')} / ${series('swapgate_ledger_filesystem_size_bytes')}`,
    },
  }),
  graph({
    title: 'Free on the disk of PostgreSQL',
    description:
      'Share of the disk with the data of the server that is free, by the figures of the job ledger-disk. Empty: nobody watches that disk.',
    runbooks: ['SwapgateLedgerServerDiskFull'],
    unit: 'percentunit',
    max: 1,
    queries: {
      '{{instance}} {{mountpoint}}{{persistentvolumeclaim}}':
        '{__name__=~"node_filesystem_avail_bytes|kubelet_volume_stats_available_bytes", job="ledger-disk"} / {__name__=~"node_filesystem_size_bytes|kubelet_volume_stats_capacity_bytes", job="ledger-disk"}',
    },
  }),
  figure({
    title: 'Lost commits of PostgreSQL',
    description:
      'In the selected time: its log went back (position), or the ledger is on another server (server). Swaps may be missing: docs/backup.md says what to do.',
    unit: 'short',
    span: 8,
    queries: { '{{by}}': count('swapgate_ledger_commits_lost_total', 'by') },
    thresholds: [[1, 'red']],
  }),
  figure({
    title: 'Lost events of timelines',
    description: 'In the selected time: events of swaps that were not written, since too many waited for the ledger.',
    unit: 'short',
    span: 8,
    queries: { lost: count('swapgate_timeline_events_lost_total', '') },
    thresholds: [[1, 'orange']],
  }),
]

const events = [
  graph({
    title: 'Open streams',
    description: 'Clients that listen to changes, in each process. A client has at most limits.streams at a time.',
    unit: 'short',
    queries: { '{{instance}}': series('swapgate_streams') },
    isStacked: true,
  }),
  graph({
    title: 'Changes per second',
    description: 'Changes of swaps that got their numbers: what listeners are sent.',
    unit: 'ops',
    queries: { '{{instance}}': rate('swapgate_events_numbered_total', 'instance') },
  }),
  graph({
    title: 'Oldest change without a number',
    description:
      'Some milliseconds. Above 2 s: no process gives numbers, and nobody who listens hears of a change. Look at the ledger.',
    unit: 's',
    queries: { age: `max(${series('swapgate_events_waiting_age_seconds')})` },
    thresholds: [[2, 'red']],
  }),
  graph({
    title: 'Changes without a number',
    description: 'Counted up to 10,000, over all processes. They get their numbers at once: many that stay are told to nobody.',
    unit: 'short',
    queries: { changes: `max(${series('swapgate_events_waiting')})` },
  }),
]

export const transactions = board({
  name: 'transactions',
  title: 'Transactions',
  description: 'Outcomes of creates, unresolved creates, and open swaps by status.',
  chooses: ['provider'],
  rows: { Now: now, 'Open transactions': funnel, Creates: creates, 'The ledger': ledger, 'Changes sent to clients': events },
})
