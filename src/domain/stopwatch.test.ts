import { expect, test } from 'vitest'
import { Stopwatch } from './trace.ts'

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
