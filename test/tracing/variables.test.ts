// Takes long: it starts many gateways.
/** The variables by which operators set OpenTelemetry, with the configuration that comes with the project. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { requestLines } from '../observability/log-lines.ts'
import { Swapgate, sourceProgram } from '../process/swapgate.ts'
import { bad } from './bad-variables.ts'
import { Collector } from './collector.ts'

let directory: string
let collector: Collector
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-variables-'))
  collector = await Collector.start()
})
afterEach(async () => {
  await collector[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
})

/** Requests an unknown path of the gateway, with these variables set, ends it, and returns what it printed and its log. */
async function run(env: Record<string, string>, program?: string): Promise<string> {
  const standard = readFileSync('config/gateway.yaml', 'utf8')
  const file = join(directory, 'gateway.yaml')
  const moved = standard.replace('port: 8080', 'port: 0\n  shutdownDelay: 0').replace('port: 9090', 'port: 0')
  writeFileSync(file, moved.replace('enabled: true', 'enabled: false'))
  writeFileSync(join(directory, 'assets.yaml'), readFileSync('config/assets.yaml'))
  const ledger = { LEDGER_URL: `sqlite:${join(directory, 'ledger.db')}` }
  await using process = new Swapgate(['start', '--config', file], { env: { ...ledger, ...env }, ...(program && { program }) })
  const url = (await process.urls()).get('gateway')
  expect((await fetch(`${url}/a/api/v2/nothing`)).status).toBe(404)
  process.child.kill('SIGTERM')
  const { exitCode } = await process.ended
  expect(exitCode).toBe(0)
  return process.outputText()
}

test('an endpoint, headers, a name, attributes and a sampler; what waits is sent at the end', async () => {
  const log = await run({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme,x-other=b%20c',
    OTEL_SERVICE_NAME: 'swaps',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=rehearsal',
    OTEL_TRACES_SAMPLER: 'parentbased_always_on',
  })
  const [sent] = collector.sent
  expect(sent?.path).toBe('/v1/traces')
  expect(sent?.headers).toMatchObject({ 'content-type': 'application/x-protobuf', 'x-tenant': 'acme', 'x-other': 'b c' })
  expect(sent?.headers['user-agent']).toMatch(/^swapgate\/\d/)
  const [span] = collector.spans
  expect(span).toMatchObject({ name: 'GET', scope: 'swapgate' })
  expect(requestLines(log)).toMatchObject([{ event: 'request', trace_id: span?.traceId }])
  expect(span?.resource).toMatchObject({ 'service.name': 'swaps', 'deployment.environment.name': 'rehearsal' })
  expect(Object.keys(span?.resource ?? {}).filter((name) => /^(?:process|host)\./.test(name))).toEqual([])
})

test.each([
  { OTEL_TRACES_SAMPLER: 'always_off' },
  { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
  { OTEL_SDK_DISABLED: 'true', OTEL_TRACES_SAMPLER: 'always_on' },
])('with %j nothing is exported', async (env) => {
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env })
  expect(collector.sent).toEqual([])
})

test('an endpoint, headers and a timeout of traces win over the general ones, and its path is used as it is', async () => {
  await run({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=general,x-all=1',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=traces',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '5000',
    OTEL_TRACES_SAMPLER: 'always_on',
  })
  expect(collector.sent[0]).toMatchObject({ path: '/own/path', headers: { 'x-tenant': 'traces', 'x-all': '1' } })
  expect(collector.spans.length).toBeGreaterThan(0)
})

test('a base path of the general endpoint stays in front of /v1/traces', async () => {
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/base/`, OTEL_TRACES_SAMPLER: 'always_on' })
  expect(collector.sent[0]?.path).toBe('/base/v1/traces')
})

test('with a bad value in every variable it starts, serves and names each once', async () => {
  const printed = await run(bad)
  expect(namesIn(printed)).toEqual(Object.keys(bad).toSorted())
  expect(printed).not.toContain('canary')
})

test('with a bad value in every other variable the spans arrive all the same', async () => {
  const endpoint = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`, OTEL_TRACES_SAMPLER: 'always_on' }
  const printed = await run({ ...bad, ...endpoint })
  expect(namesIn(printed)).toEqual(
    Object.keys(bad)
      .filter((name) => !(name in endpoint))
      .toSorted(),
  )
  expect(collector.spans.length).toBeGreaterThan(0)
})

/** The variables that warnings name, each as often as it is named. */
function namesIn(printed: string): readonly string[] {
  return [...printed.matchAll(/^warning: (OTEL_\w+) of the environment is ignored/gm)].map(([, name = '']) => name).toSorted()
}

test('without an endpoint nothing of the SDK is loaded', async () => {
  const loaded = async (env: Record<string, string>): Promise<readonly string[]> => {
    const coverage = mkdtempSync(join(directory, 'coverage-'))
    await run({ NODE_V8_COVERAGE: coverage, ...env }, sourceProgram)
    const files = readdirSync(coverage).map((name) => JSON.parse(readFileSync(join(coverage, name), 'utf8')))
    const urls = files.flatMap(({ result }: { result: { url: string }[] }) => result.map(({ url }) => url))
    return urls.filter((url) => url.includes('@opentelemetry/sdk-node'))
  }
  expect(await loaded({})).toEqual([])
  expect((await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })).length).toBeGreaterThan(0)
})
