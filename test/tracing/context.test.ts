/** O6: the trace context of a caller (W3C Trace Context). */
import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { rateQuery } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'
import type { Trace } from './collector.ts'
import { type Rig, startRig } from './rig.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const path = `/a/api/v2${rateQuery('A', { from: assets.btc, to: assets.usdtTrx, amount: '0.10' })}`

let rig: Rig
beforeAll(async () => {
  rig = await startRig()
  await rig.warm()
  await rig.collector.next()
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => {
  rig.collector.forget()
  rig.alpha.reset()
})

/** The trace of a quote that came with these headers; a list is sent as so many headers. */
async function traceOf(headers: Record<string, string | string[]>): Promise<Trace> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const sent = request(rig.gateway.url + path, { headers }, (response) => response.resume().on('end', resolve))
  sent.on('error', reject).end()
  await promise
  return rig.collector.next()
}

test.each([
  ['of version 00', `00-${traceId}-${spanId}-00`],
  ['that wants to be kept', `00-${traceId}-${spanId}-01`],
  ['with unknown flags', `00-${traceId}-${spanId}-ff`],
  ['of version 01', `01-${traceId}-${spanId}-01`],
  ['of version 01, and longer', `01-${traceId}-${spanId}-01-what-comes`],
  ['of version cc, and longer', `cc-${traceId}-${spanId}-00-x`],
])('O6: a traceparent %s is referred to, in a trace of our own', async (_, traceparent) => {
  const { root } = await traceOf({ traceparent })
  expect(root.links).toEqual([{ traceId, spanId, traceState: '' }])
  expect(root.parentSpanId).toBe('')
  expect(root.traceId).not.toBe(traceId)
})

test.each([
  ['is short', `00-${traceId.slice(1)}-${spanId}-01`],
  ['has a short span', `00-${traceId}-${spanId.slice(1)}-01`],
  ['is long', `00-${traceId}-${spanId}-01-x`],
  ['has an end without words', `00-${traceId}-${spanId}-01-`],
  ['is longer without a hyphen', `01-${traceId}-${spanId}-011`],
  ['is in capitals', `00-${traceId.toUpperCase()}-${spanId}-01`],
  ['has other letters', `00-${traceId.replace('4', 'g')}-${spanId}-01`],
  ['has a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['has a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['is of version ff', `ff-${traceId}-${spanId}-01`],
  ['lacks its flags', `00-${traceId}-${spanId}`],
  ['is empty', ''],
  ['comes twice', [`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`]],
])('O6: a traceparent that %s is ignored', async (_, traceparent) => {
  const { root } = await traceOf({ traceparent })
  expect(root.links).toEqual([])
  expect(root.attributes['http.response.status_code']).toBe(200)
})

test.each([
  ['is good', 'vendor=value'],
  ['has 33 members', Array.from({ length: 33 }, (_, n) => `v${n}=x`).join(',')],
  ['comes twice', ['a=1', 'b=2']],
])('O6: a tracestate that %s is not read, nor passed on, nor is baggage', async (_, tracestate) => {
  const trace = await traceOf({ traceparent: `00-${traceId}-${spanId}-01`, tracestate, baggage: 'who=me' })
  expect(trace.root.links).toEqual([{ traceId, spanId, traceState: '' }])
  expect(trace.spans.map(({ traceState }) => traceState).join('')).toBe('')
  const [received] = rig.alpha.received('rate')
  expect(received?.headerNames).not.toContain('tracestate')
  expect(received?.headerNames).not.toContain('baggage')
  expect(received?.headers.traceparent).not.toContain(traceId)
})
