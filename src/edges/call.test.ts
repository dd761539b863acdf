import { expect, test } from 'vitest'
import { Fault } from '../domain/fault.ts'
import type { CallEnd, Observation } from '../domain/observation.ts'
import type { Context } from '../domain/service.ts'
import { recordTraces, UpstreamTimer } from '../domain/trace.ts'
import { CallRecord } from './call.ts'

const target = {
  operation: 'getRate',
  method: 'GET',
  provider: 'alpha',
  server: { address: 'alpha.example', port: 443 },
} as const

function callRecord() {
  const root = recordTraces(1, () => {}).begin('server', 'HTTP', [])
  const span = root.begin('GET', {}, 'client')
  const upstream = new UpstreamTimer()
  const observed: Observation[] = []
  const made = new CallRecord(target, { upstreamTimer: upstream } as unknown as Context, span)
  return {
    made,
    span,
    upstream,
    end: (fault?: Fault) => made.end(fault, (observation) => void observed.push(observation)),
    observed,
  }
}

test('its span, its metric and the provider’s time are equal, without the work on the response', () => {
  const { made, span, upstream, end, observed } = callRecord()
  made.setResponse({ status: 200, headers: {}, body: '' })
  const respondedAt = performance.now()
  while (performance.now() < respondedAt + 2) {
    // Work on the response.
  }
  end()
  const time = (span.endedAt as number) - span.startedAt
  expect(span.endedAt).toBeLessThanOrEqual(respondedAt)
  expect((observed[0] as CallEnd).seconds * 1000).toBeCloseTo(time, 6)
  expect(upstream.read(performance.now())).toBeCloseTo(time, 6)
  expect(span.attributes).toEqual({ 'http.response.status_code': 200 })
})

test('a call without a response ends with its fault, also in its span', () => {
  const { span, end, observed } = callRecord()
  const cause = Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
  const fault = new Fault('unreachable', 'No.', { failureCause: 'refused', cause })
  end(fault)
  expect(span.fault).toBe(fault)
  expect(observed).toMatchObject([{ what: 'call', outcome: 'unreachable', failureCause: 'refused', status: undefined }])
})
