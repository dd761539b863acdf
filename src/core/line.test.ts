import { beforeEach, describe, expect, it } from 'vitest'
import { Line } from './line.ts'

let line: Line<string>
beforeEach(() => {
  line = new Line()
})

/** Everybody, in order; the line is empty then. */
function all(): readonly (string | undefined)[] {
  return Array.from({ length: line.size }, () => line.shift())
}

it('an empty line has nobody', () => {
  expect(line.size).toBe(0)
  expect(line.first).toBeUndefined()
  expect(line.shift()).toBeUndefined()
})

it('who came first is served first', () => {
  for (const value of ['a', 'b', 'c']) line.push(value)
  expect(line.first).toBe('a')
  expect(line.size).toBe(3)
  expect(all()).toEqual(['a', 'b', 'c'])
  expect(line.size).toBe(0)
})

it('who comes after all were served is first again', () => {
  line.push('a')
  line.shift()
  line.push('b')
  expect(line.first).toBe('b')
})

describe('whoever leaves', () => {
  it.each([
    ['a', ['b', 'c']],
    ['b', ['a', 'c']],
    ['c', ['a', 'b']],
  ])('%s: the others keep their order', (leaver, others) => {
    const places = new Map(['a', 'b', 'c'].map((value) => [value, line.push(value)]))
    line.leave(places.get(leaver) as { value: string })
    expect(line.size).toBe(2)
    line.push('d')
    expect(all()).toEqual([...others, 'd'])
  })

  it('is linked to nobody: what is kept of him keeps nobody alive', () => {
    const [, second] = [line.push('a'), line.push('b'), line.push('c')]
    line.leave(second)
    expect(JSON.stringify(second)).toBe('{"value":"b"}')
    const fourth = line.push('d')
    for (let count = 0; count < 3; count++) line.shift()
    expect(JSON.stringify(fourth)).toBe('{"value":"d"}')
  })
})
