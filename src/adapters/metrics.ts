/** prom-client: Prometheus' exposition format, and the process's own figures. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { type BreakerState, breakerStates, type Observation, type Observer } from '../domain/observation.ts'

export interface Metrics {
  /** Costs a look-up: labels are made when they are read. */
  readonly observe: Observer
  /** Everything counted, in the exposition format. */
  readonly print: () => Promise<string>
  readonly contentType: string
}

/** `formOf` tells the form of a provider, by tag. */
export function createMetrics(formOf: (tag: string) => string | undefined): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const drifts = tally(registry, 'swapgate_contract_drift_total', 'Oddities in the answers of providers.', [
    'provider',
    'field',
    'drift',
  ])
  const fields = tally(registry, 'swapgate_answer_fields_total', 'Fields of answers that were left out or worked out.', [
    'what',
    'client_form',
    'provider_form',
    'field',
  ])
  const creates = tally(registry, 'swapgate_create_outcomes_total', 'Creates that did not simply end as they were asked.', [
    'provider',
    'outcome',
  ])
  const failures = tally(registry, 'swapgate_ledger_failures_total', 'What the ledger could not do.', ['action'])
  const spans = new Counter({
    name: 'swapgate_trace_spans_total',
    help: 'Spans of traces that were kept, by what became of them.',
    labelNames: ['result'],
    registers: [registry],
  })
  const ofProvider = providerFigures(registry)
  const observeLimits = limitMetrics(registry)
  const formName = (provider: string | undefined): string => (provider !== undefined && formOf(provider)) || 'none'
  const observe = (observation: Observation): void => {
    const { what } = observation
    if (what === 'create') creates(observation.provider, observation.outcome)
    else if (what === 'ledgerFailure') failures(observation.action)
    else if (what === 'spans') spans.inc({ result: observation.result }, observation.count)
    else if (what === 'limitStore' || what === 'overAdmission' || what === 'shadowed') observeLimits(observation)
    else if (what === 'drift') drifts(observation.provider, observation.field, observation.drift)
    else if ('client' in observation) fields(what, observation.client, formName(observation.provider), observation.field)
    else ofProvider(observation)
  }
  return { observe, print: () => registry.metrics(), contentType: registry.contentType }
}

type ProviderObservation = Extract<Observation, { readonly what: 'breaker' | 'rest' | 'heldBack' | 'retry' }>

/** What becomes of the calls to providers before they go up. */
function providerFigures(registry: Registry): (observation: ProviderObservation) => void {
  const setState = states(registry)
  const rests = tally(registry, 'swapgate_provider_rests_total', 'Times that a provider was left alone, by reason.', [
    'provider',
    'reason',
  ])
  const heldBack = tally(registry, 'swapgate_provider_held_back_total', 'Calls that did not go up, by what held them back.', [
    'provider',
    'by',
  ])
  const retries = tally(registry, 'swapgate_provider_retries_total', 'Failed reads: sent once more, or not.', ['provider', 'made'])
  return (observation) => {
    const { what, provider } = observation
    if (what === 'breaker') setState(provider, observation.state)
    else if (what === 'rest') rests(provider, observation.reason)
    else if (what === 'heldBack') heldBack(provider, observation.by)
    else retries(provider, String(observation.isMade))
  }
}

type LimitObservation = Extract<Observation, { readonly what: 'limitStore' | 'overAdmission' | 'shadowed' }>

function limitMetrics(registry: Registry): (observation: LimitObservation) => void {
  const isLocal = gauge(
    registry,
    'swapgate_limits_local',
    '1 while the shared store of limits is lost and this process counts alone.',
  )
  const turns = tally(registry, 'swapgate_limit_store_changes_total', 'Changes of where limits are counted.', ['state'])
  const shadowed = tally(registry, 'swapgate_limits_shadowed_total', 'Requests that a limit in shadow mode would have refused.', [
    'policy',
  ])
  const overAdmissions = new Counter({
    name: 'swapgate_limits_over_admitted_total',
    help: 'Requests beyond a limit, let in while the shared store of limits was lost.',
    registers: [registry],
  })
  return (observation) => {
    if (observation.what === 'overAdmission') overAdmissions.inc(observation.count)
    else if (observation.what === 'shadowed') shadowed(observation.policy)
    else {
      isLocal.set(observation.state === 'local' ? 1 : 0)
      turns(observation.state)
    }
  }
}

function gauge(registry: Registry, name: string, help: string): Gauge {
  return new Gauge({ name, help, registers: [registry] })
}

/** A counter that is counted in a map and handed over when it is read: to count is one look-up. */
function tally(registry: Registry, name: string, help: string, labelNames: readonly string[]): (...labels: string[]) => void {
  const counts = new Map<string, number>()
  const toLabels = (key: string): Record<string, string> => {
    const labels = key.split('\n')
    return Object.fromEntries(labelNames.map((label, at) => [label, labels[at] ?? '']))
  }
  const counter = new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      counter.reset()
      for (const [key, count] of counts) counter.inc(toLabels(key), count)
    },
  })
  return (...labels) => {
    const key = labels.join('\n')
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
}

/** Where the breaker of each provider stands: 1 for its state, 0 for the others. */
function states(registry: Registry): (provider: string, state: BreakerState) => void {
  const gauge = new Gauge({
    name: 'swapgate_provider_state',
    help: 'Whether calls go up to the provider: closed yes, open no, halfOpen one finds out.',
    labelNames: ['provider', 'state'],
    registers: [registry],
  })
  return (provider, now) => {
    for (const state of breakerStates) gauge.set({ provider, state }, state === now ? 1 : 0)
  }
}
