import { expect, it } from 'vitest'
import { RecentCount } from './recent-count.ts'

it('counts each thing once, in the second in which it was seen last', () => {
  const recent = new RecentCount(60)
  const first = recent.add(1_000_000)
  recent.add(1_000_500)
  expect(recent.count(1_000_900)).toBe(2)
  const again = recent.add(1_030_000, first)
  expect(recent.count(1_030_000)).toBe(2)
  expect(recent.count(1_059_999)).toBe(2)
  expect(recent.count(1_060_000)).toBe(1)
  recent.remove(1_060_000, again)
  expect(recent.count(1_060_000)).toBe(0)
})

it('what was forgotten is not taken off again', () => {
  const recent = new RecentCount(2)
  const first = recent.add(0)
  recent.add(1_900)
  recent.remove(2_000, first)
  expect(recent.count(2_000)).toBe(1)
  expect(recent.add(9_000, first)).toBe(9)
  expect(recent.count(9_000)).toBe(1)
})

it('a clock that is set back changes nothing', () => {
  const recent = new RecentCount(60)
  recent.add(100_000)
  recent.add(50_000)
  expect(recent.count(60_000)).toBe(2)
})
