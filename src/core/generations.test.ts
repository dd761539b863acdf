import { expect, it } from 'vitest'
import { Generations } from './generations.ts'

it('keeps what was used within its lifetime, and forgets the rest', () => {
  const kept = new Generations<string>(10, 60)
  kept.add('used', 'a', 0)
  kept.add('left', 'b', 0)
  for (const now of [50, 100, 150, 200]) expect(kept.get('used', now), `${now}`).toBe('a')
  expect(kept.get('left', 200)).toBeUndefined()
})

it('forgets the oldest half first once it is full', () => {
  const kept = new Generations<number>(10, 60)
  for (let at = 0; at < 11; at++) kept.add(`${at}`, at, 0)
  expect(kept.get('0', 0)).toBeUndefined()
  expect(kept.get('5', 0)).toBe(5)
  expect(kept.get('10', 0)).toBe(10)
})
