import { beforeEach, describe, expect, it } from 'vitest'
import { LinkedQueue } from './linked-queue.ts'

let queue: LinkedQueue<string>
beforeEach(() => {
  queue = new LinkedQueue()
})

/** Everybody, in order; the line is empty then. */
function all(): readonly (string | undefined)[] {
  return Array.from({ length: queue.size }, () => queue.shift())
}

it('an empty line has nobody', () => {
  expect(queue.size).toBe(0)
  expect(queue.first).toBeUndefined()
  expect(queue.shift()).toBeUndefined()
})

it('who came first is served first', () => {
  for (const value of ['a', 'b', 'c']) queue.push(value)
  expect(queue.first).toBe('a')
  expect(queue.size).toBe(3)
  expect(all()).toEqual(['a', 'b', 'c'])
  expect(queue.size).toBe(0)
})

it('who comes after all were served is first again', () => {
  queue.push('a')
  queue.shift()
  queue.push('b')
  expect(queue.first).toBe('b')
})

describe('whoever leaves', () => {
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

  it('is linked to nobody: what is kept of him keeps nobody alive', () => {
    const [, second] = [queue.push('a'), queue.push('b'), queue.push('c')]
    queue.remove(second)
    expect(JSON.stringify(second)).toBe('{"value":"b"}')
    const fourth = queue.push('d')
    for (let count = 0; count < 3; count++) queue.shift()
    expect(JSON.stringify(fourth)).toBe('{"value":"d"}')
  })
})
