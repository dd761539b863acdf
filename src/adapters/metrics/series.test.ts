import { expect, test } from 'vitest'
import { combinations } from './series.ts'

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
