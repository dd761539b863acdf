import { beforeEach, describe, expect, it } from 'vitest'
import { LinkedQueue } from './bulkhead.ts'

let queue: LinkedQueue<string>
beforeEach(() => {
  queue = new LinkedQueue()
})

/** Takes all values in order; the queue is empty then. */
function all(): readonly (string | undefined)[] {
  return Array.from({ length: queue.size }, () => queue.shift())
}

it('an empty queue has no first entry', () => {
  expect(queue.size).toBe(0)
  expect(queue.first).toBeUndefined()
  expect(queue.shift()).toBeUndefined()
})

it('entries leave in order of arrival', () => {
  for (const value of ['a', 'b', 'c']) queue.push(value)
  expect(queue.first).toBe('a')
  expect(queue.size).toBe(3)
  expect(all()).toEqual(['a', 'b', 'c'])
  expect(queue.size).toBe(0)
})

it('an entry in an emptied queue is first again', () => {
  queue.push('a')
  queue.shift()
  queue.push('b')
  expect(queue.first).toBe('b')
})

describe('a removed entry', () => {
  it.each([
    ['a', ['b', 'c']],
    ['b', ['a', 'c']],
    ['c', ['a', 'b']],
  ])('%s: the others keep their order', (removed, others) => {
    const places = new Map(['a', 'b', 'c'].map((value) => [value, queue.push(value)]))
    queue.remove(places.get(removed) as { value: string })
    expect(queue.size).toBe(2)
    queue.push('d')
    expect(all()).toEqual([...others, 'd'])
  })

  it('has no links: it keeps no other entry alive', () => {
    const [, second] = [queue.push('a'), queue.push('b'), queue.push('c')]
    queue.remove(second)
    expect(JSON.stringify(second)).toBe('{"value":"b"}')
    const fourth = queue.push('d')
    for (let count = 0; count < 3; count++) queue.shift()
    expect(JSON.stringify(fourth)).toBe('{"value":"d"}')
  })
})
