import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { recordTraces } from '../domain/trace.ts'
import { SpanBuffer } from './tracing.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const spans = (count: number) => Array.from({ length: count }, () => recordTraces(1, () => {}).begin('server', 'HTTP', []))

function recordingBuffer() {
  const sent: number[] = []
  return { sent, box: new SpanBuffer({ batch: 5, delayMs: 1_000, send: ({ length }) => void sent.push(length) }) }
}

test('a full batch is sent once, after the caller has finished', () => {
  const { sent, box } = recordingBuffer()
  box.add(spans(3))
  box.add(spans(3))
  box.add(spans(1))
  expect(sent).toEqual([])
  vi.advanceTimersByTime(0)
  expect(sent).toEqual([7])
  vi.advanceTimersByTime(10_000)
  expect(sent).toEqual([7])
})

test('a smaller batch is sent after the delay, and so are later spans', () => {
  const { sent, box } = recordingBuffer()
  box.add(spans(1))
  vi.advanceTimersByTime(999)
  box.add(spans(1))
  expect(sent).toEqual([])
  vi.advanceTimersByTime(1)
  expect(sent).toEqual([2])
  box.add(spans(1))
  vi.advanceTimersByTime(1_000)
  expect(sent).toEqual([2, 1])
})

test('at the end the rest is sent', () => {
  const { sent, box } = recordingBuffer()
  box.add(spans(4))
  box.flush()
  box.flush()
  expect(sent).toEqual([4])
})
