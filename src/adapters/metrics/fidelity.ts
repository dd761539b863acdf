/** Metrics of providers' conformance: drift from the form, and missing fields. */
import { discrepancies, discrepancyActions, snakeCase } from '../../domain/observation.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import type { FormOf, Handlers, Providers } from './handler.ts'
import { combinations } from './series-map.ts'

export function fidelityMetrics(
  exposition: Exposition,
  providers: Providers,
  formOf: FormOf,
): Handlers<'drift' | 'omitted' | 'derived' | 'discrepancy'> {
  const drifts = new Counter({
    name: 'swapgate_contract_drift_total',
    help: 'Deviations of providers’ responses from their form, by field.',
    labels: ['provider', 'field', 'drift'],
  })
  const fields = new Counter({
    name: 'swapgate_response_fields_total',
    help: 'Fields of responses that were omitted or derived.',
    labels: ['what', 'client_form', 'provider_form', 'field'],
  })
  const found = new Counter({
    name: 'swapgate_transaction_discrepancies_total',
    help: 'Responses that contradict the ledger about a transaction that was created here.',
    labels: ['provider', 'field', 'action'],
    initialValues: () => {
      const tags = providers().map(({ tag }) => tag)
      return combinations(tags, discrepancies.map(snakeCase), discrepancyActions)
    },
  })
  for (const family of [drifts, fields, found]) exposition.add(family)
  const count: Handlers<'omitted'>['omitted'] = ({ what, client, provider, field }) =>
    fields.add([what, client, formOf(provider), field])
  return {
    drift: ({ provider, field, drift }) => drifts.add([provider, field, snakeCase(drift)]),
    discrepancy: ({ provider, field, action }) => found.add([provider, snakeCase(field), action]),
    omitted: count,
    derived: count,
  }
}
