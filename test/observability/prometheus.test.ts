/** A real Prometheus reads what is printed, exemplars too. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createMetrics } from '../../src/adapters/metrics/index.ts'
import { freePort } from '../support/free-port.ts'
import { nothingToRead } from '../support/metrics-options.ts'
import { prometheusPrograms } from '../support/prometheus-program.ts'

const timeout = 120_000
const trace = '0af7651916cd43dd8448eb211c80319c'

/** The port of a page with one traced request; `accepted` are the requested formats. */
async function page(accepted: string[]): Promise<number> {
  const providers = [{ tag: 'alpha', form: 'A', state: 'active', rateLimit: { quotes: 60 } }]
  const figures = async () => ({ unfinished: [], unresolvedCounts: [], attentionCounts: [], watchedCounts: [] })
  const metrics = createMetrics({
    ...nothingToRead,
    isCounting: true,
    providers: () => providers,
    formOf: () => 'A',
    readLedgerGauges: figures,
    version: '1',
    commit: 'abc123',
    schema: 2,
    droppedLines: () => 0,
    readRequestCounts: () => undefined,
  })
  metrics.observe({
    what: 'request',
    requestId: 'r1',
    traceId: trace,
    isTraceKept: true,
    operation: 'getRate',
    method: 'GET',
    route: '/a/api/v2/rate',
    status: 200,
    errorType: 'none',
    fault: undefined,
    isReplay: false,
    client: 'A',
    provider: 'alpha',
    caller: undefined,
    account: undefined,
    accountId: undefined,
    keyId: undefined,
    address: undefined,
    intent: undefined,
    seconds: 0.03,
    providerSeconds: 0.028,
    addedSeconds: 0.002,
  })
  const server = createServer(async ({ headers }, response) => {
    accepted.push(headers.accept ?? '')
    const { contentType, text } = await metrics.print(headers.accept ?? '')
    response.setHeader('content-type', contentType).end(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** Queries Prometheus' interface; undefined while it does not respond. */
async function query(port: number, path: string): Promise<readonly unknown[] | undefined> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => undefined)
  if (!reply?.ok) return undefined
  const { data } = (await reply.json()) as { readonly data: readonly unknown[] | { readonly result: readonly unknown[] } }
  return 'result' in data ? data.result : data
}

it('a real Prometheus requests OpenMetrics, reads it, and has the trace of a slow request', { timeout }, async () => {
  const { prometheus } = await prometheusPrograms()
  const accepted: string[] = []
  const target = `127.0.0.1:${await page(accepted)}`
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-prometheus-test-'))
  const file = join(directory, 'prometheus.yml')
  const job = { job_name: 'swapgate', scrape_interval: '1s', static_configs: [{ targets: [target] }] }
  writeFileSync(file, JSON.stringify({ scrape_configs: [job] }))
  const port = await freePort(12_000, 8_000)
  const child = spawn(
    prometheus,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
    ],
    { stdio: 'ignore' },
  )
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(directory, { recursive: true, force: true })
  })
  const counted = () => query(port, 'query?query=swapgate_requests_total')
  await expect
    .poll(counted, { timeout: 60_000, interval: 500 })
    .toMatchObject([{ metric: { error_type: 'none', provider: 'alpha' }, value: [expect.anything(), '1'] }])
  expect(accepted.at(-1)).toContain('application/openmetrics-text')
  expect(await query(port, 'query?query=up')).toMatchObject([{ value: [expect.anything(), '1'] }])
  const now = Date.now() / 1000
  const exemplars = await query(
    port,
    `query_exemplars?query=http_server_request_duration_seconds_bucket&start=${now - 300}&end=${now + 60}`,
  )
  expect(exemplars).toMatchObject([{ exemplars: [{ labels: { trace_id: trace }, value: '0.03' }] }])
})
