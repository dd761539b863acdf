/** protobufjs: what the OTLP exporter sends, read by the field numbers of opentelemetry-proto v1. Independent of the exporter. */
import protobuf from 'protobufjs/light.js'

type Fields = Readonly<Record<string, readonly [id: number, type: string]>>

function message(fields: Fields) {
  const entries = Object.entries(fields).map(([name, [id, type]]) => {
    const [, item] = /^repeated (\w+)$/.exec(type) ?? []
    return [name, { id, type: item ?? type, ...(item !== undefined && { rule: 'repeated' }) }] as const
  })
  return { fields: Object.fromEntries(entries) }
}

const root = protobuf.Root.fromJSON({
  nested: {
    TracesData: message({ resourceSpans: [1, 'repeated ResourceSpans'] }),
    ResourceSpans: message({ resource: [1, 'Resource'], scopeSpans: [2, 'repeated ScopeSpans'] }),
    Resource: message({ attributes: [1, 'repeated KeyValue'] }),
    ScopeSpans: message({ scope: [1, 'Scope'], spans: [2, 'repeated Span'] }),
    Scope: message({ name: [1, 'string'], version: [2, 'string'] }),
    Span: message({
      traceId: [1, 'bytes'],
      spanId: [2, 'bytes'],
      traceState: [3, 'string'],
      parentSpanId: [4, 'bytes'],
      name: [5, 'string'],
      kind: [6, 'int32'],
      start: [7, 'fixed64'],
      end: [8, 'fixed64'],
      attributes: [9, 'repeated KeyValue'],
      events: [11, 'repeated Event'],
      links: [13, 'repeated Link'],
      status: [15, 'Status'],
    }),
    Event: message({ name: [2, 'string'] }),
    Link: message({ traceId: [1, 'bytes'], spanId: [2, 'bytes'], traceState: [3, 'string'] }),
    Status: message({ message: [2, 'string'], code: [3, 'int32'] }),
    KeyValue: message({ key: [1, 'string'], value: [2, 'AnyValue'] }),
    AnyValue: message({ text: [1, 'string'], flag: [2, 'bool'], whole: [3, 'int64'], number: [4, 'double'] }),
  },
})
const tracesData = root.lookupType('TracesData')

export interface ExportedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty: the first of its trace. */
  readonly parentSpanId: string
  readonly traceState: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client'
  /** Nanoseconds since 1970. */
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string; readonly traceState: string }[]
  readonly events: readonly unknown[]
  readonly status: 'unset' | 'ok' | 'error'
  readonly statusMessage: string
  readonly resource: Readonly<Record<string, string | number | boolean>>
  readonly scope: string
}

interface KeyValue {
  readonly key: string
  readonly value: { readonly text?: string; readonly flag?: boolean; readonly whole?: string; readonly number?: number }
}

interface RawSpan extends Omit<ExportedSpan, 'attributes' | 'kind' | 'start' | 'end' | 'status' | 'resource' | 'scope'> {
  readonly kind: number
  readonly start: string
  readonly end: string
  readonly attributes: readonly KeyValue[]
  readonly status: { readonly code: number; readonly message: string } | null
}

interface RawTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly { readonly scope: { readonly name: string }; readonly spans: readonly RawSpan[] }[]
  }[]
}

export function readTraces(bytes: Uint8Array): readonly ExportedSpan[] {
  const options = { longs: String, bytes: Array, defaults: true } as const
  const { resourceSpans } = tracesData.toObject(tracesData.decode(bytes), options) as RawTraces
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({ ...toExportedSpan(span), resource: toRecord(resource.attributes), scope: scope.name })),
    ),
  )
}

function toExportedSpan(span: RawSpan): Omit<ExportedSpan, 'resource' | 'scope'> {
  const { kind, start, end, status, attributes, links } = span
  return {
    ...span,
    traceId: toHex(span.traceId),
    spanId: toHex(span.spanId),
    parentSpanId: toHex(span.parentSpanId),
    kind: (['internal', 'internal', 'server', 'client'] as const)[kind] ?? 'internal',
    start: BigInt(start),
    end: BigInt(end),
    attributes: toRecord(attributes),
    links: links.map(({ traceId, spanId, traceState }) => ({ traceId: toHex(traceId), spanId: toHex(spanId), traceState })),
    status: (['unset', 'ok', 'error'] as const)[status?.code ?? 0] ?? 'unset',
    statusMessage: status?.message ?? '',
  }
}

function toHex(bytes: unknown): string {
  return Buffer.from(bytes as number[]).toString('hex')
}

function toRecord(pairs: readonly KeyValue[]): Record<string, string | number | boolean> {
  const plain = ({ text, flag, whole, number }: KeyValue['value']) => {
    if (text !== undefined && text !== '') return text
    if (flag) return flag
    return whole !== undefined && whole !== '0' ? Number(whole) : (number ?? 0)
  }
  return Object.fromEntries(pairs.map(({ key, value }) => [key, plain(value)]))
}
