/** What limits said to clients, and where they are counted. */
import { limitDecisions, limitPolicies, type StoreState, storeStates } from '../../domain/telemetry/observation.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import { gauge, single } from './gauge.ts'
import type { Handlers } from './handler.ts'
import { combinations } from './series-map.ts'

export function limitMetrics(exposition: Exposition): Handlers<'limit' | 'limitStore' | 'overAdmission'> {
  let state: StoreState = 'shared'
  const decisions = new Counter({
    name: 'swapgate_limit_decisions_total',
    help: 'What limits said to requests; near: let in with at most a tenth left.',
    labels: ['policy', 'decision'],
    initialValues: () => combinations(limitPolicies, limitDecisions),
  })
  const changes = new Counter({
    name: 'swapgate_limit_store_changes_total',
    help: 'Changes of where limits are counted.',
    labels: ['state'],
    initialValues: () => combinations(storeStates),
  })
  const overAdmitted = new Counter({
    name: 'swapgate_limits_over_admitted_total',
    help: 'Requests beyond a limit, let in while the shared store of limits was lost.',
    labels: [],
    initialValues: () => combinations(),
  })
  for (const family of [decisions, changes, overAdmitted]) exposition.add(family)
  exposition.add(
    gauge('swapgate_limits_local', '1 while the shared store of limits is lost and this process counts alone.', () =>
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
