/** How far providers keep to their forms, and what answers lack. */
import { snakeCase } from '../../domain/snake-case.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import type { FormOf, Handlers } from './handler.ts'

export function fidelityMetrics(exposition: Exposition, formOf: FormOf): Handlers<'drift' | 'omitted' | 'derived'> {
  const drifts = new Counter({
    name: 'swapgate_contract_drift_total',
    help: 'Oddities in the answers of providers, by field of their form.',
    labels: ['provider', 'field', 'drift'],
  })
  const fields = new Counter({
    name: 'swapgate_answer_fields_total',
    help: 'Fields of answers that were left out or worked out.',
    labels: ['what', 'client_form', 'provider_form', 'field'],
  })
  for (const family of [drifts, fields]) exposition.add(family)
  const count: Handlers<'omitted'>['omitted'] = ({ what, client, provider, field }) =>
    fields.add([what, client, formOf(provider), field])
  return {
    drift: ({ provider, field, drift }) => drifts.add([provider, field, snakeCase(drift)]),
    omitted: count,
    derived: count,
  }
}
