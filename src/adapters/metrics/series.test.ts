import { expect, test } from 'vitest'
import { combinations, labelsOf, SeriesMap } from './series.ts'

test('each combination of values has its own series, whatever the values contain', () => {
  const counts = new SeriesMap(() => ({ count: 0 }))
  for (const values of [['a', 'b'], ['a\nb'], ['a', ''], ['a'], [], ['a', 'b']]) counts.of(values).count++
  expect(counts.all().map(([values, { count }]) => [values, count])).toEqual([
    [[], 1],
    [['a'], 1],
    [['a', 'b'], 2],
    [['a', ''], 1],
    [['a\nb'], 1],
  ])
})

test('labels and values are matched by position', () => {
  expect(labelsOf(['policy', 'decision'], ['read', 'admitted'])).toEqual({ policy: 'read', decision: 'admitted' })
})

test('combinations are every choice of one value from each list; of no list there is one', () => {
  expect(combinations(['a', 'b'], ['x', 'y'])).toEqual([
    ['a', 'x'],
    ['a', 'y'],
    ['b', 'x'],
    ['b', 'y'],
  ])
  expect(combinations()).toEqual([[]])
  expect(combinations(['a'], [])).toEqual([])
})
