import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { recordTraces } from '../../domain/tracing/trace.ts'
import { SpanBuffer } from './span-buffer.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const spans = (count: number) => Array.from({ length: count }, () => recordTraces(1, () => {}).begin('server', 'HTTP', []))

function outbox() {
  const sent: number[] = []
  return { sent, box: new SpanBuffer({ batch: 5, delayMs: 1_000, send: ({ length }) => void sent.push(length) }) }
}

test('a batch is sent once, and not before the work that filled it is done', () => {
  const { sent, box } = outbox()
  box.add(spans(3))
  box.add(spans(3))
  box.add(spans(1))
  expect(sent).toEqual([])
  vi.advanceTimersByTime(0)
  expect(sent).toEqual([7])
  vi.advanceTimersByTime(10_000)
  expect(sent).toEqual([7])
})

test('fewer are sent when the first has waited long enough, and so are those that come later', () => {
  const { sent, box } = outbox()
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

test('at the end nothing stays behind', () => {
  const { sent, box } = outbox()
  box.add(spans(4))
  box.flush()
  box.flush()
  expect(sent).toEqual([4])
})
