/** What is counted, printed and read again. The format is checked by Prometheus' own tool. */

import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createMetrics, type Metrics } from '../../src/adapters/metrics/index.ts'
import type { LedgerGauges } from '../../src/core/ports/ledger-admin.ts'
import type { RequestEnd } from '../../src/domain/observation.ts'
import { nothingToRead } from '../support/metrics-options.ts'
import { prometheusPrograms } from '../support/prometheus-program.ts'

const rateLimit = { quotes: 60, create: 0, read: 120 }
const providers = [{ tag: 'beta', form: 'B', state: 'draining', rateLimit }]
const formOf = (tag: string | undefined): string => (tag === 'beta' ? 'B' : 'none')
const oldest = Date.now() - 90_000
const held: LedgerGauges = {
  unfinished: [{ provider: 'beta', status: 'wait', count: 3, oldest }],
  unresolvedCounts: [{ provider: 'beta', state: 'unknown', count: 1, oldest: Date.now() - 10_000 }],
  attentionCounts: [{ provider: 'beta', attention: 'failed', count: 2 }],
  watchedCounts: [{ provider: 'beta', count: 3, oldest: Date.now() - 40_000 }],
}

function metricsOf(figures: () => Promise<LedgerGauges> = async () => held): Metrics {
  return createMetrics({
    ...nothingToRead,
    isCounting: true,
    providers: () => providers,
    formOf,
    readLedgerGauges: figures,
    version: '1.2.3',
    commit: 'abc123',
    schema: 2,
    droppedLines: () => 4,
    readRequestCounts: () => undefined,
  })
}

const end: RequestEnd = {
  what: 'request',
  requestId: 'r1',
  traceId: undefined,
  isTraceKept: false,
  operation: 'getRate',
  method: 'GET',
  route: '/a/api/v2/rate',
  status: 200,
  errorType: 'none',
  isReplay: false,
  fault: undefined,
  client: 'A',
  provider: 'beta',
  caller: undefined,
  account: undefined,
  accountId: undefined,
  keyId: undefined,
  address: undefined,
  intent: undefined,
  seconds: 0.03,
  providerSeconds: 0.028,
  addedSeconds: 0.002,
}

const openMetrics = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5'

/** Lines of metrics whose names begin so, and that are not 0. */
async function lines(metrics: Metrics, prefix: string, accept = ''): Promise<readonly string[]> {
  const { text } = await metrics.print(accept)
  return text.split('\n').filter((line) => line.startsWith(prefix) && !line.endsWith(' 0'))
}

describe('counters', () => {
  it('count what is observed, however often they are read', async () => {
    const metrics = metricsOf()
    metrics.observe({ what: 'drift', provider: 'beta', field: 'status', drift: 'unknownStatus' })
    metrics.observe({ what: 'omitted', client: 'A', provider: 'beta', field: 'fee' })
    metrics.observe({ what: 'omitted', client: 'A', provider: 'beta', field: 'fee' })
    metrics.observe({ what: 'derived', client: 'A', provider: undefined, field: 'rate' })
    metrics.observe({ what: 'cooldown', provider: 'beta', reason: 'keyRefused' })
    metrics.observe({ what: 'localRejection', provider: 'beta', by: 'cooldown' })
    metrics.observe({ what: 'retry', provider: 'beta', isMade: true })
    metrics.observe({ what: 'limitStore', state: 'local' })
    metrics.observe({ what: 'overAdmission', count: 7 })
    metrics.observe({ what: 'limit', policy: 'read', decision: 'near' })
    metrics.observe({ what: 'keyRefused', reason: 'providerRefused' })
    metrics.observe({ what: 'reload', result: 'refused', messages: [] })
    const expected = [
      'swapgate_configuration_reloads_total{result="refused"} 1',
      'swapgate_contract_drift_total{provider="beta",field="status",drift="unknown_status"} 1',
      'swapgate_key_refusals_total{reason="provider_refused"} 1',
      'swapgate_limit_decisions_total{policy="read",decision="near"} 1',
      'swapgate_limit_store_changes_total{state="local"} 1',
      'swapgate_limits_local 1',
      'swapgate_limits_over_admitted_total 7',
      'swapgate_log_lines_dropped_total 4',
      'swapgate_provider_cooldowns_total{provider="beta",reason="key_refused"} 1',
      'swapgate_provider_local_rejections_total{provider="beta",by="cooldown"} 1',
      'swapgate_provider_retries_total{provider="beta",made="true"} 1',
      'swapgate_response_fields_total{what="derived",client_form="A",provider_form="none",field="rate"} 1',
      'swapgate_response_fields_total{what="omitted",client_form="A",provider_form="B",field="fee"} 2',
    ]
    const counted = async () =>
      (await lines(metrics, 'swapgate_')).filter(
        (line) => !/_(?:state|upstream_quota|budget|build|trans|creates_|cache_|time_)/.test(line),
      ) // the caches are those of all tests
    expect((await counted()).toSorted()).toEqual(expected)
    expect((await counted()).toSorted()).toEqual(expected)
    metrics.observe({ what: 'limitStore', state: 'recovering' })
    expect(await lines(metrics, 'swapgate_limits_local')).toEqual([])
  })

  it('that an alert uses are there before they count', async () => {
    const { text } = await metricsOf().print('')
    for (const line of [
      'swapgate_create_outcomes_total{provider="beta",outcome="duplicate_id"} 0',
      'swapgate_provider_cooldowns_total{provider="beta",reason="key_refused"} 0',
      'swapgate_limit_store_changes_total{state="local"} 0',
    ]) {
      expect(text.split('\n')).toContain(line)
    }
  })
})

describe('requests and calls', () => {
  it('are counted by how they ended, and timed into the buckets of the conventions', async () => {
    const metrics = metricsOf()
    metrics.observe(end)
    metrics.observe({ ...end, status: 504, errorType: 'provider_timed_out', seconds: 10.5 })
    const server = { address: 'beta.example', port: 443 }
    const call = { what: 'call', operation: 'getRate', method: 'GET', provider: 'beta', server, seconds: 0.028 } as const
    metrics.observe({ ...call, status: 200, outcome: 'done' })
    metrics.observe({ ...call, status: undefined, outcome: 'timedOut' })
    metrics.observe({ ...call, status: undefined, outcome: 'unreachable', failureCause: 'dns_timeout' })
    metrics.observe({ ...call, status: 799, outcome: 'failed' })
    expect(await lines(metrics, 'swapgate_requests_total')).toEqual([
      'swapgate_requests_total{operation="get_rate",client_form="A",provider_form="B",provider="beta",error_type="none"} 1',
      'swapgate_requests_total{operation="get_rate",client_form="A",provider_form="B",provider="beta",error_type="provider_timed_out"} 1',
    ])
    const served = 'http_request_method="GET",http_route="/a/api/v2/rate",http_response_status_code="200",error_type=""'
    expect(await lines(metrics, `http_server_request_duration_seconds_bucket{le="0.05",${served}}`)).toHaveLength(1)
    expect(await lines(metrics, `http_server_request_duration_seconds_bucket{le="0.025",${served}}`)).toHaveLength(0)
    expect(await lines(metrics, 'http_server_request_duration_seconds_sum')).toEqual([
      `http_server_request_duration_seconds_sum{${served}} 0.03`,
      `http_server_request_duration_seconds_sum{${served.replace('200', '504').replace('""', '"provider_timed_out"')}} 10.5`,
    ])
    expect(await lines(metrics, 'swapgate_added_seconds_count')).toEqual(['swapgate_added_seconds_count{operation="get_rate"} 2'])
    expect((await lines(metrics, 'swapgate_provider_calls_total')).map((line) => /outcome="(\w+)"/.exec(line)?.[1])).toEqual([
      'done',
      'timed_out',
      'unreachable',
      'failed',
    ])
    expect(await lines(metrics, 'swapgate_provider_unreachable_total{provider="beta",cause="dns_timeout"}')).toEqual([
      'swapgate_provider_unreachable_total{provider="beta",cause="dns_timeout"} 1',
    ])
    const statuses = await lines(metrics, 'http_client_request_duration_seconds_count')
    expect(statuses.map((line) => /status_code="(\w*)",error_type="(\w*)"/.exec(line)?.slice(1))).toEqual([
      ['200', ''],
      ['', 'timed_out'],
      ['', 'unreachable'],
      ['_OTHER', '_OTHER'],
    ])
  })

  it('name the last kept trace in each bucket, in OpenMetrics alone', async () => {
    const metrics = metricsOf()
    metrics.observe({ ...end, traceId: '0af7651916cd43dd8448eb211c80319c', isTraceKept: true })
    metrics.observe({ ...end, traceId: '99999999999999999999999999999999', isTraceKept: false })
    const exemplars = (text: string) =>
      text.split('\n').filter((line) => line.includes(' # {trace_id="0af7651916cd43dd8448eb211c80319c"} 0.03 '))
    const open = await metrics.print(openMetrics)
    expect(open.contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    expect(exemplars(open.text)).toHaveLength(1)
    expect(open.text).toMatch(/\n# EOF\n$/)
    expect(open.text).toContain('# TYPE swapgate_requests counter\nswapgate_requests_total{')
    for (const accept of [
      'application/openmetrics-text;q=0',
      'Application/OpenMetrics-Text; q=0.0, */*',
      'text/plain, application/openmetrics-text;q=0.5',
    ])
      expect((await metrics.print(accept)).contentType, accept).toMatch(/^text\/plain/)
    const classic = await metrics.print('text/plain')
    expect(classic.text).not.toContain('trace_id')
    expect(classic.text).toContain('# TYPE swapgate_requests_total counter\nswapgate_requests_total{')
  })
})

describe('what is left', () => {
  it('of the ledger, its server, and the connections to providers', async () => {
    const metrics = createMetrics({
      ...nothingToRead,
      readRequestCounts: () => undefined,
      isCounting: true,
      providers: () => providers,
      formOf,
      readLedgerGauges: async () => held,
      readLedgerConnections: () => ({ used: 12, idle: 1, max: 13 }),
      readLedgerCapacity: async () => ({ bytes: 5_000, volume: { bytes: 9_000, availableBytes: 4_000 }, clockOffsetMs: -2_500 }),
      readProviderConnections: () => [{ provider: 'beta', active: 3, idle: 2, max: 128 }],
      memoryShare: () => 0.5,
      version: '1.2.3',
      commit: 'abc123',
      schema: 2,
      droppedLines: () => 0,
    })
    for (const line of [
      'db_client_connection_count{db_client_connection_state="used"} 12',
      'db_client_connection_count{db_client_connection_state="idle"} 1',
      'db_client_connection_max 13',
      'http_client_open_connections{provider="beta",http_connection_state="active"} 3',
      'http_client_open_connections{provider="beta",http_connection_state="idle"} 2',
      'swapgate_provider_connections_max{provider="beta"} 128',
      'swapgate_ledger_size_bytes 5000',
      'swapgate_ledger_filesystem_avail_bytes 4000',
      'swapgate_ledger_filesystem_size_bytes 9000',
      'swapgate_clock_offset_seconds{against="ledger"} -2.5',
      'swapgate_memory_used_ratio 0.5',
    ])
      expect(await lines(metrics, line.split(' ')[0] ?? '')).toContain(line)
  })
})

describe('how providers stand', () => {
  it('has the newest certificate, and whether the currency list was read to its end', async () => {
    const metrics = metricsOf()
    expect(await lines(metrics, 'swapgate_certificate')).toEqual([])
    metrics.observe({ what: 'certificate', provider: 'beta', notAfter: 1_900_000_000_000 })
    metrics.observe({ what: 'currencyList', provider: 'beta', isWhole: true })
    expect(await lines(metrics, 'swapgate_certificate')).toEqual([
      'swapgate_certificate_not_after_timestamp_seconds{provider="beta"} 1900000000',
    ])
    expect(await lines(metrics, 'swapgate_currency_list_whole')).toEqual(['swapgate_currency_list_whole{provider="beta"} 1'])
    metrics.observe({ what: 'currencyList', provider: 'beta', isWhole: false })
    metrics.observe({ what: 'currencyList', provider: 'removed', isWhole: false })
    expect((await metrics.print('')).text.match(/^swapgate_currency_list_whole\{.*$/gm)).toEqual([
      'swapgate_currency_list_whole{provider="beta"} 0',
    ])
  })

  it('has one state of many', async () => {
    const metrics = metricsOf()
    metrics.observe({ what: 'breaker', provider: 'beta', operation: 'getRate', state: 'halfOpen' })
    const states = await lines(metrics, 'swapgate_breaker_state')
    expect(states).toHaveLength(6) // five operations, and native
    expect(states).toContain('swapgate_breaker_state{provider="beta",operation="get_rate",state="half_open"} 1')
    expect(states).toContain('swapgate_breaker_state{provider="beta",operation="create_transaction",state="closed"} 1')
    expect(await lines(metrics, 'swapgate_provider_state')).toEqual(['swapgate_provider_state{provider="beta",state="draining"} 1'])
  })

  it('has what is left of a budget beside its size, and nothing for one without bounds', async () => {
    const metrics = metricsOf()
    metrics.observe({ what: 'budget', provider: 'beta', policy: 'quotes', remaining: 12 })
    expect(await lines(metrics, 'swapgate_upstream_quota')).toEqual([
      'swapgate_upstream_quota_limit{provider="beta",policy="quotes"} 54',
      'swapgate_upstream_quota_limit{provider="beta",policy="read"} 108',
      'swapgate_upstream_quota_remaining{provider="beta",policy="quotes"} 12',
    ])
  })
})

describe('what the ledger holds', () => {
  it('is read once for all concurrent requests, and again only when it is old', async () => {
    let readings = 0
    const metrics = metricsOf(async () => {
      readings++
      return held
    })
    await Promise.all([metrics.print(''), metrics.print(openMetrics)])
    expect(await lines(metrics, 'swapgate_transactions_open{')).toEqual([
      'swapgate_transactions_open{provider="beta",status="wait"} 3',
    ])
    expect(await lines(metrics, 'swapgate_creates_unresolved')).toEqual([
      'swapgate_creates_unresolved{provider="beta",state="unknown"} 1',
    ])
    const [age = ''] = await lines(metrics, 'swapgate_transactions_oldest_open_seconds')
    expect(Number(age.split(' ')[1])).toBeCloseTo((Date.now() - oldest) / 1000, 0)
    const [ofStatus = ''] = await lines(metrics, 'swapgate_transactions_open_age_seconds{provider="beta",status="wait"}')
    expect(Number(ofStatus.split(' ')[1])).toBeCloseTo((Date.now() - oldest) / 1000, 0)
    expect(readings).toBe(1)
  })

  it('never delays a scrape of the rest', async () => {
    const failing = await metricsOf(() => Promise.reject(new Error('no ledger'))).print('')
    const silent = await metricsOf(() => new Promise(() => {})).print('')
    for (const { text } of [failing, silent]) {
      expect(text).toContain('swapgate_build_info{version="1.2.3",commit="abc123",schema="2",node=')
      expect(text).not.toContain('swapgate_transactions_open{')
    }
  })
})

it('without metrics of the gateway, those of the process are still there', async () => {
  const metrics = createMetrics({
    ...nothingToRead,
    isCounting: false,
    providers: () => [],
    formOf,
    readLedgerGauges: async () => held,
    version: '1',
    commit: 'abc123',
    schema: 2,
    droppedLines: () => 0,
    readRequestCounts: () => undefined,
  })
  metrics.observe(end)
  const { text } = await metrics.print('')
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
  expect(text).not.toContain('swapgate_requests_total')
})

it('O3: Prometheus accepts names, units and types', async () => {
  const { promtool } = await prometheusPrograms()
  const metrics = metricsOf()
  metrics.observe(end)
  metrics.observe({ what: 'cache', cache: 'rate', outcome: 'hit', ageSeconds: 1.5 })
  metrics.observe({ what: 'ledger', action: 'find', seconds: 0.001, isFailure: true })
  metrics.observe({ what: 'reconciled', at: Date.now() })
  metrics.observe({ what: 'search', provider: 'alpha', result: 'read', at: Date.now() })
  const { text } = await metrics.print('')
  // It ends with an error if it finds anything.
  expect(execFileSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' })).toBe('')
})
