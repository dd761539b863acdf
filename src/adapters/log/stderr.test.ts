import { expect, it, test, vi } from 'vitest'
import { eventTimeoutMs } from '../../../test/support/event-timeout.ts'
import { openStderr, Sink, type Write } from './stderr.ts'

it('gateways that are started one after another in a process add no listeners to its standard error', () => {
  openStderr(true)
  const before = process.stderr.listenerCount('error')
  for (let start = 0; start < 12; start++) openStderr(true)
  expect(process.stderr.listenerCount('error')).toBe(before)
})

/** A writer that completes a write only when the test does. */
function slow() {
  const given: { readonly text: string; readonly taken: Parameters<Write>[1] }[] = []
  const sink = new Sink((text, taken) => given.push({ text, taken }))
  return { sink, given }
}

const line = `${'x'.repeat(999)}\n`

test('lines are buffered for a short time and written together', async () => {
  const { sink, given } = slow()
  sink.write('a\n', true)
  sink.write('b\n', true)
  expect(given).toEqual([])
  await vi.waitFor(() => expect(given.map(({ text }) => text)).toEqual(['a\nb\n']), eventTimeoutMs)
})

test('a full buffer is written at once, and further lines wait for that write', () => {
  const { sink, given } = slow()
  for (let count = 0; count < 140; count++) sink.write(line, true)
  expect(given).toHaveLength(1)
  given[0]?.taken()
  sink.write(line, true)
  expect(given.map(({ text }) => text.length)).toEqual([66_000, 75_000])
})

test('X8: up to a mebibyte is buffered, and dropped lines are counted', async () => {
  const { sink, given } = slow()
  for (let count = 0; count < 1_200; count++) sink.write(line, true)
  expect(sink.dropped).toBe(1_200 - 1_048)
  expect(await sink.end(20)).toBe(false)
  for (const { taken } of given) taken()
  sink.write(line, true)
  expect(sink.dropped).toBe(1_200 - 1_048)
})

test('lines that must not be lost are buffered behind a mebibyte of others, in order, and only the others are dropped', async () => {
  const { sink, given } = slow()
  for (let count = 0; count < 1_200; count++) sink.write(line, true)
  for (let count = 0; count < 3_000; count++) sink.write(`${'y'.repeat(999)}\n`, false)
  sink.write(line, true)
  expect(sink.dropped).toBe(1_200 - 1_048 + 1)
  const ending = sink.end(1_000)
  given[0]?.taken()
  given[1]?.taken()
  expect(await ending).toBe(true)
  const written = given.map(({ text }) => text).join('')
  expect(written.match(/x+/g)).toHaveLength(1_048)
  expect(written.match(/y+/g)).toHaveLength(3_000)
  expect(written.lastIndexOf('x')).toBeLessThan(written.indexOf('y'))
})

test('lines that must not be lost are dropped above 16 MiB, and counted', () => {
  const { sink } = slow()
  for (let count = 0; count < 17_000; count++) sink.write(line, false)
  expect(sink.dropped).toBe(17_000 - 16_777)
})

test('failed lines are counted, and the next write is tried', async () => {
  const { sink, given } = slow()
  sink.write('a\n', true)
  sink.write('b\n', true)
  const ending = sink.end(1_000)
  given[0]?.taken(new Error('full'))
  expect(await ending).toBe(true)
  expect(sink.dropped).toBe(2)
})

test('the end waits for lines that arrive meanwhile', async () => {
  const { sink, given } = slow()
  sink.write('a\n', true)
  const ending = sink.end(1_000)
  sink.write('b\n', true)
  given[0]?.taken()
  await vi.waitFor(() => expect(given).toHaveLength(2), eventTimeoutMs)
  given[1]?.taken()
  expect(await ending).toBe(true)
})
