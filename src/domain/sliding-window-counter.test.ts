import { expect, it } from 'vitest'
import { SlidingWindowCounter } from './sliding-window-counter.ts'

it('counts each item once, in the second in which it was last added', () => {
  const counter = new SlidingWindowCounter(60)
  const first = counter.add(1_000_000)
  counter.add(1_000_500)
  expect(counter.count(1_000_900)).toBe(2)
  const again = counter.add(1_030_000, first)
  expect(counter.count(1_030_000)).toBe(2)
  expect(counter.count(1_059_999)).toBe(2)
  expect(counter.count(1_060_000)).toBe(1)
  counter.remove(1_060_000, again)
  expect(counter.count(1_060_000)).toBe(0)
})

it('an expired item is not subtracted again', () => {
  const counter = new SlidingWindowCounter(2)
  const first = counter.add(0)
  counter.add(1_900)
  counter.remove(2_000, first)
  expect(counter.count(2_000)).toBe(1)
  expect(counter.add(9_000, first)).toBe(9)
  expect(counter.count(9_000)).toBe(1)
})

it('a clock that is set back changes nothing', () => {
  const counter = new SlidingWindowCounter(60)
  counter.add(100_000)
  counter.add(50_000)
  expect(counter.count(60_000)).toBe(2)
})
