import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Fault } from './fault.ts'
import { readTraceparent, recordTraces, type Span, Stopwatch } from './trace.ts'

function recorded(ratio: number) {
  const taken: (readonly Span[])[] = []
  const root = recordTraces(ratio, (spans) => void taken.push(spans)).begin('server', 'HTTP', [])
  return { root, taken, names: () => taken.map((spans) => spans.map(({ name }) => name)) }
}

test('nothing is exported before the end; then parents come before their children', () => {
  const { root, names } = recorded(1)
  const [outer, other] = [root.begin('outer'), root.begin('other')]
  const inner = outer.begin('inner', {}, 'client')
  for (const span of [inner, outer, other]) span.end()
  expect(names()).toEqual([])
  root.trace.finish(false)
  expect(names()).toEqual([['HTTP', 'outer', 'other', 'inner']])
  expect(inner.parent).toBe(outer)
})

test('a trace that is not sampled is exported only if it is notable', () => {
  const quiet = recorded(0)
  quiet.root.trace.finish(false)
  expect(quiet.names()).toEqual([])
  const failed = recorded(0)
  expect(failed.root.traceparent).toMatch(/-00$/)
  failed.root.trace.finish(true)
  expect(failed.names()).toEqual([['HTTP']])
})

test('a span that ends after its trace is exported then, if the trace is', () => {
  for (const ratio of [0, 1]) {
    const { root, names } = recorded(ratio)
    const late = root.begin('late')
    root.trace.finish(false)
    late.end()
    expect(names()).toEqual(ratio === 1 ? [['HTTP'], ['late']] : [])
  }
})

test('a span ends once, and keeps its fault', () => {
  const { root } = recorded(1)
  const span = root.begin('span')
  const fault = new Fault('timedOut', 'Too late.')
  span.end(fault)
  const { endedAt } = span
  span.end()
  expect([span.endedAt, span.fault]).toEqual([endedAt, fault])
  expect(endedAt).toBeGreaterThanOrEqual(span.startedAt)
})

test('of thousands of spans the first 200 are exported; the others are not marked as sampled for the provider', () => {
  const { root, taken } = recorded(1)
  const spans = Array.from({ length: 5_000 }, () => root.begin('GET', {}, 'client'))
  for (const span of spans) span.end()
  root.trace.finish(false)
  expect(taken.flat()).toHaveLength(200)
  expect(spans.filter(({ traceparent }) => traceparent.endsWith('-01'))).toHaveLength(199)
})

test.each([
  [0.5, '80000000'],
  [0.25, 'c0000000'],
])('a share of %d is sampled by the last digits of the id, so that all systems decide alike', (share, least) => {
  const tracing = recordTraces(share, () => {})
  const traces = Array.from({ length: 2_000 }, () => tracing.begin('server', 'HTTP', []).trace)
  const kept = traces.filter(({ isSampled }) => isSampled)
  expect(Math.abs(kept.length / traces.length - share)).toBeLessThan(0.06)
  for (const { id, isSampled } of traces) expect(id.slice(-8) >= least).toBe(isSampled)
  expect(new Set(traces.map(({ root }) => root?.id)).size).toBe(traces.length)
})

test('ids are unique, also of spans above the bound', () => {
  const roots = Array.from({ length: 200 }, () => recorded(1).root)
  const spans = roots.flatMap((root) => [root, ...Array.from({ length: 250 }, () => root.begin('GET'))])
  for (const { id } of spans) expect(id).toMatch(/^(?!0{16})[0-9a-f]{16}$/)
  expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length)
  expect(new Set(roots.map(({ trace }) => trace.id)).size).toBe(roots.length)
})

test('overlapping time counts once, and a running activity counts until now', () => {
  const watch = new Stopwatch()
  watch.start(10)
  watch.start(20)
  watch.stop(30)
  expect(watch.read(35)).toBe(25)
  watch.stop(40)
  expect(watch.read(100)).toBe(30)
  watch.start(100)
  watch.stop(105)
  expect(watch.read(200)).toBe(35)
})

const hex = (length: number) => fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
const named = (length: number) => hex(length).filter((id) => /[^0]/.test(id))

test('every traceparent of version 00 is read, whatever its flags', () => {
  fc.assert(
    fc.property(named(32), named(16), hex(2), (traceId, spanId, flags) => {
      expect(readTraceparent(`00-${traceId}-${spanId}-${flags}`)).toEqual({ traceId, spanId })
      expect(readTraceparent(`00-${traceId}-${spanId}-${flags}-more`)).toBeUndefined()
      expect(readTraceparent(`01-${traceId}-${spanId}-${flags}-more`)).toEqual({ traceId, spanId })
    }),
  )
})

test('anything else is none', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(readTraceparent(text)).toBeUndefined()
    }),
  )
  expect(readTraceparent(undefined)).toBeUndefined()
})

test('a generated traceparent can be parsed', () => {
  const root = recordTraces(1, () => {}).begin('server', 'HTTP', [])
  expect(root.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  expect(readTraceparent(root.traceparent)).toEqual({ traceId: root.trace.id, spanId: root.id })
})
