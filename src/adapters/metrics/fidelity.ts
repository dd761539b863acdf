/** How far providers keep to their forms, and what answers lack. */
import { discrepancies, discrepancyActions } from '../../domain/telemetry/observation.ts'
import { snakeCase } from '../../domain/telemetry/snake-case.ts'
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
    help: 'Oddities in the answers of providers, by field of their form.',
    labels: ['provider', 'field', 'drift'],
  })
  const fields = new Counter({
    name: 'swapgate_response_fields_total',
    help: 'Fields of answers that were left out or worked out.',
    labels: ['what', 'client_form', 'provider_form', 'field'],
  })
  const found = new Counter({
    name: 'swapgate_transaction_discrepancies_total',
    help: 'Answers that differ from what the ledger knows of a transaction that was created here.',
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
