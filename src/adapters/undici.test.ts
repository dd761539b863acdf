import { expect, test } from 'vitest'
import { ResponseBytes } from './undici.ts'

/** Slices of one read of a socket, as undici passes them. */
function cuts(length: number, size: number): readonly Buffer[] {
  const read = Buffer.alloc(65_536, 'x')
  return Array.from({ length: length / size }, (_, at) => read.subarray(at % 1_000, (at % 1_000) + size))
}

test.each([1, 7, 65_000])('V16: a response in chunks of %i bytes is complete and takes only its own size', (size) => {
  const body = new ResponseBytes()
  const chunks = cuts(1_050_000 - (1_050_000 % size), size)
  for (const chunk of chunks) body.add(chunk)
  const whole = body.whole()
  expect(whole.equals(Buffer.concat(chunks))).toBe(true)
  expect(whole.buffer.byteLength).toBeLessThanOrEqual(2 * whole.length + 65_536)
})

test('V16: a response of one chunk is not copied, and one without chunks is empty', () => {
  const body = new ResponseBytes()
  expect(body.whole()).toHaveLength(0)
  const chunk = Buffer.from('{}')
  body.add(chunk)
  expect(body.whole()).toBe(chunk)
})

test('V16: an empty chunk in front changes nothing', () => {
  const body = new ResponseBytes()
  for (const text of ['', '{"a"', '', ':1}']) body.add(Buffer.from(text))
  expect(body.whole().toString()).toBe('{"a":1}')
})
