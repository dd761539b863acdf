import { expect, it } from 'vitest'
import { RoundRobinQueue } from './bulkhead.ts'

it('gives each caller one turn in a round, whatever the others have put in', () => {
  const queue = new RoundRobinQueue<string>()
  for (const value of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(value.slice(0, 1), value)
  expect([queue.size, queue.firsts]).toEqual([6, ['a1', 'b1', 'c1']])
  const shifted = Array.from({ length: 4 }, () => queue.shift())
  queue.push('d', 'd1')
  expect([...shifted, queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual([
    'a1',
    'b1',
    'c1',
    'a2',
    'b2',
    'a3',
    'd1',
    undefined,
  ])
  expect([queue.size, queue.firsts]).toEqual([0, []])
})
