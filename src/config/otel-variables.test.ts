import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { certify } from '../../test/support/certificate.ts'
import { bad } from '../../test/tracing/bad-variables.ts'
import { readOtelVariables, removeUnusable } from './otel-variables.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-otel-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const file = (name: string, content: string): string => {
  writeFileSync(join(directory, name), content)
  return join(directory, name)
}

describe('each variable that can be used sets its key', () => {
  it.each([
    ['OTEL_SDK_DISABLED', ' TRUE ', { disabled: 'true' }],
    ['OTEL_TRACES_EXPORTER', 'none', { disabled: 'true' }],
    ['OTEL_TRACES_EXPORTER', 'otlp', {}],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://collector.test:4318/base', { endpoint: 'https://collector.test:4318/base' }],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://collector.test/own', { tracesEndpoint: 'http://collector.test/own' }],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '250', { timeoutMs: '250' }],
    ['OTEL_TRACES_SAMPLER', 'ParentBased_Always_On', { sampler: 'parentbased_always_on' }],
    ['OTEL_TRACES_SAMPLER_ARG', '1e-3', { ratio: '0.001' }],
    ['OTEL_TRACES_SAMPLER_ARG', '1', { ratio: '1' }],
    ['OTEL_BSP_SCHEDULE_DELAY', '0', { delayMs: '0' }],
    ['OTEL_PROPAGATORS', 'tracecontext', {}],
    ['OTEL_METRICS_EXPORTER', 'none', {}],
    ['OTEL_LOGS_EXPORTER', 'none', {}],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf', {}],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20x, x-tenant=acme', {}],
    ['OTEL_RESOURCE_ATTRIBUTES', 'service.namespace=swaps,a=b%2Cc', {}],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', '', {}],
    ['OTEL_OF_ANOTHER_LANGUAGE', 'x', {}],
  ])('%s=%s', (name, value, settings) => {
    const read = readOtelVariables({ [name]: value })
    expect([read.settings, [...read.faults]]).toEqual([settings, []])
  })

  it('that of traces wins, and the general one counts where that of traces cannot be used', () => {
    const [own, general] = ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT']
    expect(readOtelVariables({ [own]: '1', [general]: '2' }).settings).toEqual({ timeoutMs: '1' })
    const { settings, faults } = readOtelVariables({ [own]: 'soon', [general]: '2' })
    expect([settings, [...faults.keys()]]).toEqual([{ timeoutMs: '2' }, [own]])
  })

  it('certificates: that of traces, else the general one', () => {
    const authority = certify({ name: 'authority' })
    const client = certify({ name: 'client', issuer: authority })
    const { certificates, faults } = readOtelVariables({
      OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: file('none.pem', ''),
      OTEL_EXPORTER_OTLP_CERTIFICATE: file('ca.pem', authority.cert),
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: file('cert.pem', client.cert),
      OTEL_EXPORTER_OTLP_CLIENT_KEY: file('key.pem', client.key),
    })
    expect(String(certificates.ca)).toBe(authority.cert)
    expect([certificates.cert, certificates.key].map(String)).toEqual([client.cert, client.key])
    expect([...faults.keys()]).toEqual(['OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE'])
  })

  it('a client certificate without its key, and with another one', () => {
    const [one, other] = [certify({ name: 'one' }), certify({ name: 'other' })]
    const { certificates, faults } = readOtelVariables({
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: file('one.pem', one.cert),
      OTEL_EXPORTER_OTLP_CLIENT_KEY: file('other.pem', other.key),
    })
    expect([certificates, [...faults.keys()]]).toEqual([{}, ['OTEL_EXPORTER_OTLP_CLIENT_KEY']])
  })
})

describe('each variable that cannot be used is reported by its name, without its value, and sets nothing', () => {
  it.each(Object.entries(bad))('%s=%s', (name, value) => {
    const { settings, faults, certificates } = readOtelVariables({ [name]: value })
    expect([settings, certificates, [...faults.keys()]]).toEqual([{}, {}, [name]])
    expect([...faults.values()].join()).not.toMatch(/canary/)
  })

  it('all at once are as many reports, and are taken out of the environment with nothing else', () => {
    expect(new Set(readOtelVariables(bad).faults.keys())).toEqual(new Set(Object.keys(bad)))
    const environment: Record<string, string> = { ...bad, OTEL_SERVICE_NAME: 'swaps', HOME: '/root' }
    removeUnusable(environment)
    expect(environment).toEqual({ OTEL_SERVICE_NAME: 'swaps', HOME: '/root' })
  })
})
