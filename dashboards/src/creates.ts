/** What became of creates, and what is in doubt. */
import { count, rate, series, shared } from './expression.ts'
import { bars, graph } from './panel.ts'

const chosen = 'provider=~"$provider"'
const created = `operation="create_transaction", ${chosen}`

export const creates = [
  graph({
    title: 'Creates by outcome',
    description: 'Creates of clients; "none" is one that was answered as asked. provider_unknown_outcome: 504, in doubt.',
    runbooks: ['SwapgateAvailabilityBurnFast', 'SwapgateCreatesUnknown'],
    unit: 'reqps',
    queries: { '{{error_type}}': rate('swapgate_requests_total', 'error_type', 'operation="create_transaction"') },
    isStacked: true,
  }),
  graph({
    title: 'Creates that went up, by outcome',
    description: 'What the provider made of them. All but done, refused and limited leave a create in doubt.',
    runbooks: ['SwapgateCreatesUnknown'],
    unit: 'reqps',
    queries: { '{{provider}} {{outcome}}': rate('swapgate_attempts_total', 'provider, outcome', created) },
    isStacked: true,
  }),
  graph({
    title: 'Creates in doubt',
    description: 'unknown should go back to 0 by itself, mismatch only by your hand.',
    runbooks: ['SwapgateCreatesUnknown', 'SwapgateCreateMismatch'],
    unit: 'short',
    queries: { '{{provider}} {{state}}': shared('swapgate_creates_unresolved', 'provider, state', chosen) },
    thresholds: [[1, 'orange']],
  }),
  graph({
    title: 'Age of the oldest create in doubt',
    description: 'Over 15 minutes the first four looks have found nothing. Clients with an Idempotency-Key get 409 all that time.',
    runbooks: ['SwapgateCreatesUnknown'],
    span: 12,
    unit: 's',
    queries: { '{{provider}}': shared('swapgate_creates_oldest_unresolved_seconds', 'provider', chosen) },
    thresholds: [[900, 'red']],
  }),
  bars({
    title: 'What was found out',
    description:
      'In the time that is shown. unknown with as many found is well. ambiguous needs you, not_found does if it stays; not_created: it ended, with nothing in the provider’s list; lookup_failed: the provider could not be looked at; other_amount: it took another amount than was asked.',
    runbooks: ['SwapgateCreatesUnknown', 'SwapgateCreateMismatch'],
    span: 12,
    unit: 'short',
    queries: { '{{provider}} {{outcome}}': count('swapgate_create_outcomes_total', 'provider, outcome', chosen) },
  }),
  graph({
    title: 'Results that the ledger could not take',
    description:
      'Results of creates in the memory of a process. They are written as soon as the ledger can; do not kill a process that has some. At 1,000 further ones are looked for at the provider instead.',
    runbooks: ['SwapgateLedgerFailing'],
    span: 12,
    unit: 'short',
    queries: { '{{instance}}': series('swapgate_ledger_results_held') },
    thresholds: [[1, 'orange']],
  }),
  graph({
    title: 'Addresses that were refused',
    description:
      'Withdrawal and refund addresses that fit no form of their network. If one network rises after a change of the asset table, its pattern is too narrow.',
    span: 12,
    unit: 'reqps',
    queries: {
      'network {{network}}': `${rate('swapgate_address_refusals_total', 'network')} or 0 * ${rate('swapgate_requests_total', 'network', 'operation="create_transaction"')}`,
    },
  }),
  bars({
    title: 'Answers that differ from the ledger',
    description:
      'In the time that is shown, about swaps that were created here. rejected: another coin, network, address or memo; the last known state was served. accepted: another refund address or rate type.',
    runbooks: ['SwapgateTransactionContradicted'],
    span: 24,
    unit: 'short',
    queries: {
      '{{provider}} {{field}} {{action}}': count('swapgate_transaction_discrepancies_total', 'provider, field, action', chosen),
    },
  }),
]
