import { expect, test } from 'vitest'
import { Fault } from '../domain/faults/fault.ts'
import type { Context } from '../domain/swap/service.ts'
import type { AttemptEnd, Observation } from '../domain/telemetry/observation.ts'
import { recordTraces } from '../domain/tracing/trace.ts'
import { UpstreamTimer } from '../domain/tracing/upstream-timer.ts'
import { Attempt } from './attempt.ts'

const attempted = {
  operation: 'getRate',
  method: 'GET',
  provider: 'alpha',
  server: { address: 'alpha.example', port: 443 },
} as const

function attempt() {
  const root = recordTraces(1, () => {}).begin('server', 'HTTP', [])
  const span = root.begin('GET', {}, 'client')
  const upstream = new UpstreamTimer()
  const told: Observation[] = []
  const made = new Attempt(attempted, { upstreamTimer: upstream } as unknown as Context, span)
  return { made, span, upstream, end: (fault?: Fault) => made.end(fault, (observation) => void told.push(observation)), told }
}

test('its span, its figure and the time of the provider are one, and what is done with the answer is no part of it', () => {
  const { made, span, upstream, end, told } = attempt()
  made.setResponse({ status: 200, headers: {}, body: '' })
  const answeredAt = performance.now()
  while (performance.now() < answeredAt + 2) {
    // The answer is read.
  }
  end()
  const time = (span.endedAt as number) - span.startedAt
  expect(span.endedAt).toBeLessThanOrEqual(answeredAt)
  expect((told[0] as AttemptEnd).seconds * 1000).toBeCloseTo(time, 6)
  expect(upstream.read(performance.now())).toBeCloseTo(time, 6)
  expect(span.attributes).toEqual({ 'http.response.status_code': 200 })
})

test('one that is never answered ends with its fault, in its span too', () => {
  const { span, end, told } = attempt()
  const fault = new Fault('unreachable', 'No.')
  end(fault)
  expect(span.fault).toBe(fault)
  expect(told).toMatchObject([{ what: 'attempt', outcome: 'unreachable', status: undefined }])
})
