/**
 * The environment variables of OpenTelemetry's specification (general SDK configuration, OTLP exporter): which key of `telemetry` each
 * sets, and what is said of one that cannot be used. As the specification has it, none of them stops the start.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { maxTimerMs } from '../domain/async.ts'
import { baseUrl } from './value-types.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What is wrong with a value, as the end of a sentence; undefined if it can be used. */
type Check = (value: string) => string | undefined

/** Reads a variable: the text for the key of `telemetry` that it sets, or what is wrong. */
type Parse = (value: string) => { readonly text: string } | { readonly wrong: string }

const samplers = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`])

const whole = (min: number): Parse => {
  const wrong = `must be an integer from ${min} to ${maxTimerMs}`
  return (value) =>
    /^\d{1,10}$/.test(value) && isWithin(Number(value), min, maxTimerMs) ? { text: String(Number(value)) } : { wrong }
}

const flag: Parse = (value) => {
  const text = value.toLowerCase()
  return text === 'true' || text === 'false' ? { text } : { wrong: 'must be true or false' }
}

const sampler: Parse = (value) => {
  const text = value.toLowerCase()
  return samplers.includes(text) ? { text } : { wrong: `must be one of ${samplers.join(', ')}` }
}

/** Never with an exponent. */
const plainNumber = new Intl.NumberFormat('en', { maximumFractionDigits: 12, useGrouping: false })

const share: Parse = (value) =>
  isWithin(Number(value), 0, 1) ? { text: plainNumber.format(Number(value)) } : { wrong: 'must be a number from 0 to 1' }

const url: Parse = (value) => {
  const { error } = baseUrl.safeParse(value)
  return error ? { wrong: error.issues[0]?.message ?? 'must be a URL' } : { text: value }
}

/** The variables that set a key of `telemetry`. Of two for one key the first that can be used counts: that of traces. */
const settings: readonly (readonly [variable: string, key: string, parse: Parse])[] = [
  ['OTEL_SDK_DISABLED', 'disabled', flag],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'tracesEndpoint', url],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'endpoint', url],
  ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'timeoutMs', whole(1)],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', 'timeoutMs', whole(1)],
  ['OTEL_TRACES_SAMPLER', 'sampler', sampler],
  ['OTEL_TRACES_SAMPLER_ARG', 'ratio', share],
  ['OTEL_BSP_MAX_QUEUE_SIZE', 'queue', whole(1)],
  ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 'batch', whole(1)],
  ['OTEL_BSP_SCHEDULE_DELAY', 'delayMs', whole(0)],
  ['OTEL_BSP_EXPORT_TIMEOUT', 'exportTimeoutMs', whole(1)],
]

const oneOf = (words: readonly string[], else_: string): Check => {
  return (value) => (words.includes(value.toLowerCase()) ? undefined : `must be ${words.join(' or ')}: ${else_}`)
}

const protocol = oneOf(['http/protobuf'], 'spans are sent as that')
const compression = oneOf(['none', 'gzip'], 'spans are not compressed')
const noEffect: Check = () => 'has no effect here'

/** The variables that the SDK reads itself, or whose one value is the gateway's way. */
const others: Readonly<Record<string, Check>> = {
  OTEL_SERVICE_NAME: () => undefined,
  OTEL_RESOURCE_ATTRIBUTES: (value) => (pairsOf(value, (name) => name !== '') ? undefined : 'must be name=value,name=value'),
  OTEL_LOG_LEVEL: oneOf(['none', 'error', 'warn', 'info', 'debug', 'verbose', 'all'], 'the SDK says nothing'),
  OTEL_TRACES_EXPORTER: (value) => (isNone(value) ? undefined : oneOf(['otlp'], 'spans are sent by OTLP')(value)),
  OTEL_METRICS_EXPORTER: oneOf(['none', 'prometheus'], 'metrics are read at /metrics'),
  OTEL_LOGS_EXPORTER: oneOf(['none'], 'the log is on standard error'),
  OTEL_PROPAGATORS: (value) =>
    value.toLowerCase() === 'tracecontext' ? undefined : 'must be tracecontext: no other is read or passed on',
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_COMPRESSION: compression,
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: compression,
  OTEL_EXPORTER_OTLP_HEADERS: headers,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers,
  OTEL_EXPORTER_OTLP_INSECURE: noEffect,
  OTEL_EXPORTER_OTLP_TRACES_INSECURE: noEffect,
  OTEL_EXPORTER_OTLP_SPAN_INSECURE: noEffect,
  OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: noEffect,
  OTEL_ATTRIBUTE_COUNT_LIMIT: noEffect,
  OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: noEffect,
  OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: noEffect,
  OTEL_SPAN_EVENT_COUNT_LIMIT: noEffect,
  OTEL_SPAN_LINK_COUNT_LIMIT: noEffect,
  OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT: noEffect,
  OTEL_LINK_ATTRIBUTE_COUNT_LIMIT: noEffect,
  OTEL_CONFIG_FILE: noEffect,
  OTEL_EXPERIMENTAL_CONFIG_FILE: noEffect,
}

const certificates = { ca: 'CERTIFICATE', cert: 'CLIENT_CERTIFICATE', key: 'CLIENT_KEY' } as const

export type OtlpCertificates = { readonly [Part in keyof typeof certificates]?: Buffer }

export interface OtelVariables {
  /** The keys of `telemetry` that the variables set, as text. */
  readonly settings: Readonly<Record<string, string>>
  /** What is wrong with each variable that cannot be used. Never its value, which may be a secret. */
  readonly faults: ReadonlyMap<string, string>
  /** For the connection to a collector. */
  readonly certificates: OtlpCertificates
}

/** An empty variable counts as unset, as the specification requires. */
export function readOtelVariables(environment: Environment): OtelVariables {
  const faults = new Map<string, string>()
  const read = (name: string): string => environment[name]?.trim() ?? ''
  const found = new Map<string, string>()
  for (const [name, key, parse] of settings) {
    const value = read(name)
    if (value === '') continue
    const result = parse(value)
    if ('wrong' in result) faults.set(name, result.wrong)
    else if (!found.has(key)) found.set(key, result.text)
  }
  for (const [name, check] of Object.entries(others)) {
    const wrong = read(name) === '' ? undefined : check(read(name))
    if (wrong !== undefined) faults.set(name, wrong)
  }
  if (isNone(read('OTEL_TRACES_EXPORTER'))) found.set('disabled', 'true')
  return { settings: Object.fromEntries(found), faults, certificates: readCertificates(read, faults) }
}

/** Takes the variables that cannot be used out of the environment, since the SDK reads it, too, and fails with some of them. */
export function removeUnusable(environment: Record<string, string | undefined>): void {
  for (const name of readOtelVariables(environment).faults.keys()) delete environment[name]
}

function isNone(exporters: string): boolean {
  return exporters.split(',').some((name) => name.trim().toLowerCase() === 'none')
}

function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max
}

/** The pairs of a list in W3C's form; undefined if one of them is none. */
function pairsOf(list: string, isName: (name: string) => boolean): ReadonlyMap<string, string> | undefined {
  const pairs = new Map<string, string>()
  for (const pair of list.split(',').filter((text) => text.trim() !== '')) {
    const [name, value, ...rest] = pair.split('=').map(decoded)
    if (name === undefined || value === undefined || rest.length > 0 || !isName(name)) return undefined
    pairs.set(name, value)
  }
  return pairs
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim())
  } catch {
    return undefined
  }
}

function headers(list: string): string | undefined {
  const wrong = 'must be name=value,name=value, percent-encoded'
  try {
    const pairs = pairsOf(list, (name) => name !== '')
    if (!pairs) return wrong
    for (const [name, value] of pairs) {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    }
    return undefined
  } catch {
    return wrong
  }
}

/** One that cannot be read counts as none, as the SDK has it. */
function readCertificates(read: (name: string) => string, faults: Map<string, string>): OtlpCertificates {
  const found: { -readonly [Part in keyof OtlpCertificates]: Buffer } = {}
  for (const [part, suffix] of Object.entries(certificates) as [keyof OtlpCertificates, string][]) {
    for (const name of [`OTEL_EXPORTER_OTLP_TRACES_${suffix}`, `OTEL_EXPORTER_OTLP_${suffix}`]) {
      const file = read(name)
      if (file === '' || found[part]) continue
      const content = readIfPossible(file)
      if (content && isOfKind(part, content)) found[part] = content
      else faults.set(name, content ? 'is a file that is not of this kind, in PEM' : 'is a file that cannot be read')
    }
  }
  const { ca, cert, key } = found
  if (!cert || !key || new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return found
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY', 'OTEL_EXPORTER_OTLP_CLIENT_KEY'])
    if (read(name) !== '') faults.set(name, 'is not the key of the client certificate: neither is used')
  return ca ? { ca } : {}
}

function isOfKind(part: keyof OtlpCertificates, content: Buffer): boolean {
  try {
    return part === 'key' ? createPrivateKey(content).type === 'private' : new X509Certificate(content).subject !== undefined
  } catch {
    return false
  }
}

function readIfPossible(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
