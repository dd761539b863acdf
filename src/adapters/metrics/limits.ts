/** Metrics of limits: decisions, and whether the shared store is used. */
import { limitDecisions, limitPolicies, type StoreState, storeStates } from '../../domain/observation.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import { gauge, single } from './gauge.ts'
import type { Handlers } from './handler.ts'
import { combinations } from './series-map.ts'

export function limitMetrics(exposition: Exposition): Handlers<'limit' | 'limitStore' | 'overAdmission'> {
  let state: StoreState = 'shared'
  const decisions = new Counter({
    name: 'swapgate_limit_decisions_total',
    help: 'Decisions of limits on requests; near: admitted with at most a tenth of the limit left.',
    labels: ['policy', 'decision'],
    initialValues: () => combinations(limitPolicies, limitDecisions),
  })
  const changes = new Counter({
    name: 'swapgate_limit_store_changes_total',
    help: 'Changes between the shared store and local limits.',
    labels: ['state'],
    initialValues: () => combinations(storeStates),
  })
  const overAdmitted = new Counter({
    name: 'swapgate_limits_over_admitted_total',
    help: 'Requests above a limit that were admitted while the shared store of limits was unavailable.',
    labels: [],
    initialValues: () => combinations(),
  })
  for (const family of [decisions, changes, overAdmitted]) exposition.add(family)
  exposition.add(
    gauge('swapgate_limits_local', '1 while the shared store of limits is unavailable and this process counts alone.', () =>
      single(state === 'local' ? 1 : 0),
    ),
  )
  return {
    limit: ({ policy, decision }) => decisions.add([policy, decision]),
    limitStore(observation) {
      state = observation.state
      changes.add([state])
    },
    overAdmission: ({ count }) => overAdmitted.add([], count),
  }
}
