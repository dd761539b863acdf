/** Outcomes of creates, and unresolved creates. */
import { count, rate, series, shared } from './expression.ts'
import { bars, figure, graph } from './panel.ts'

const chosen = 'provider=~"$provider"'
const created = `operation="create_transaction", ${chosen}`

export const creates = [
  graph({
    title: 'Creates by outcome',
    description: 'Creates of clients. "none": created as requested. provider_unknown_outcome: 504, the outcome is unknown.',
    runbooks: ['SwapgateAvailabilityBurnFast', 'SwapgateCreatesUnknown'],
    unit: 'reqps',
    queries: { '{{error_type}}': rate('swapgate_requests_total', 'error_type', 'operation="create_transaction"') },
    isStacked: true,
  }),
  graph({
    title: 'Creates at the provider, by outcome',
    description: 'Creates that were sent. After every outcome but done, refused and limited it is unknown whether the swap exists.',
    runbooks: ['SwapgateCreatesUnknown'],
    unit: 'reqps',
    queries: { '{{provider}} {{outcome}}': rate('swapgate_provider_calls_total', 'provider, outcome', created) },
    isStacked: true,
  }),
  graph({
    title: 'Unresolved creates',
    description: 'unknown: should return to 0 by itself. mismatch: resolve each by hand.',
    runbooks: ['SwapgateCreatesUnknown', 'SwapgateCreateMismatch'],
    unit: 'short',
    queries: { '{{provider}} {{state}}': shared('swapgate_creates_unresolved', 'provider, state', chosen) },
    thresholds: [[1, 'orange']],
  }),
  graph({
    title: 'Age of the oldest unresolved create',
    description:
      'Over 15 minutes: the first four checks found nothing. A client that repeats its Idempotency-Key gets 409 until then.',
    runbooks: ['SwapgateCreatesUnknown'],
    span: 12,
    unit: 's',
    queries: { '{{provider}}': shared('swapgate_creates_oldest_unresolved_seconds', 'provider', chosen) },
    thresholds: [[900, 'red']],
  }),
  bars({
    title: 'Results of reconciliation',
    description:
      'In the selected time. As many found as unknown: all is well. ambiguous: resolve it by hand, and not_found if it stays. not_created: ended without a transaction in the provider’s list. lookup_failed: the list could not be read. other_amount: created with another amount than requested.',
    runbooks: ['SwapgateCreatesUnknown', 'SwapgateCreateMismatch'],
    span: 12,
    unit: 'short',
    queries: { '{{provider}} {{outcome}}': count('swapgate_create_outcomes_total', 'provider, outcome', chosen) },
  }),
  graph({
    title: 'Results that the ledger could not take',
    description:
      'Results of creates that are only in the memory of a process. They are written when the ledger works again: do not kill such a process. Above 1,000 results, reconciliation finds the others at the provider.',
    runbooks: ['SwapgateLedgerFailing'],
    span: 12,
    unit: 'short',
    queries: { '{{instance}}': series('swapgate_ledger_results_held') },
    thresholds: [[1, 'orange']],
  }),
  graph({
    title: 'Refused addresses',
    description:
      'Withdrawal and refund addresses that are not valid on their network. A rise for one network after a change of the asset table: its pattern is too narrow.',
    span: 12,
    unit: 'reqps',
    queries: {
      'network {{network}}': `${rate('swapgate_address_refusals_total', 'network')} or 0 * ${rate('swapgate_requests_total', 'network', 'operation="create_transaction"')}`,
    },
  }),
  bars({
    title: 'Checks of responses to creates',
    description:
      'In the selected time. tolerated: rounded. counted: other than requested, and passed on since `providers.<name>.judge` says so. refused: no client got that address.',
    runbooks: ['SwapgateCreateMismatch', 'SwapgateAssetSuspended'],
    span: 12,
    unit: 'short',
    queries: {
      '{{provider}} {{kind}} {{outcome}}': count(
        'swapgate_create_judgements_total',
        'provider, kind, outcome',
        `outcome!="passed", ${chosen}`,
      ),
    },
  }),
  bars({
    title: 'Creates against their quotes',
    description:
      'Since the processes started: amount received that creates promise, relative to the newest quote of the provider. One in twenty is below p5, half are below p50. Below 0: the provider promises more in quotes than in creates.',
    runbooks: ['SwapgateCreateBelowQuote'],
    span: 12,
    unit: 'percentunit',
    queries: Object.fromEntries(
      [0.05, 0.5].map((share) => [
        `{{provider}} p${share * 100}`,
        `histogram_quantile(${share}, sum by (le, provider) (${series('swapgate_create_quote_deviation_ratio_bucket', chosen)}))`,
      ]),
    ),
  }),
  figure({
    title: 'Assets taken out of new swaps',
    description: 'In the selected time, after three mismatches in a row, for ten minutes each.',
    runbooks: ['SwapgateAssetSuspended'],
    span: 24,
    unit: 'short',
    queries: {
      '{{provider}} {{kind}} {{network}}': `${count('swapgate_provider_assets_suspended_total', 'provider, kind, network', chosen)} or vector(0)`,
    },
    thresholds: [[1, 'orange']],
  }),
  bars({
    title: 'Responses that differ from the ledger',
    description:
      'In the selected time, for swaps that were created here. rejected: another coin, network, address or memo; the client got the last known state. accepted: another refund address or rate type.',
    runbooks: ['SwapgateTransactionContradicted'],
    span: 24,
    unit: 'short',
    queries: {
      '{{provider}} {{field}} {{action}}': count('swapgate_transaction_discrepancies_total', 'provider, field, action', chosen),
    },
  }),
]
