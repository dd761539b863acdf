import { expect, it } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

it('keeps entries that were read within the lifetime, and drops the others', () => {
  const map = new BoundedMap<string>({ maxEntries: 10, lifetimeMs: 60 })
  map.set('read', 'a', 0)
  map.set('left', 'b', 0)
  for (const now of [50, 100, 150, 200]) expect(map.get('read', now), `${now}`).toBe('a')
  expect(map.get('left', 200)).toBeUndefined()
})

it('drops the oldest half first once it is full', () => {
  const map = new BoundedMap<number>({ maxEntries: 10, lifetimeMs: 60 })
  for (let at = 0; at < 11; at++) map.set(`${at}`, at, 0)
  expect(map.get('0', 0)).toBeUndefined()
  expect(map.get('5', 0)).toBe(5)
  expect(map.get('10', 0)).toBe(10)
})

it('without a lifetime only the number of entries drops them', () => {
  const map = new BoundedMap<number>({ maxEntries: 4 })
  for (let at = 0; at < 3; at++) map.set(`${at}`, at)
  expect([0, 1, 2].map((at) => map.get(`${at}`))).toEqual([0, 1, 2])
  for (let at = 3; at < 9; at++) map.set(`${at}`, at)
  expect(map.get('0')).toBeUndefined()
  expect(map.get('8')).toBe(8)
})

it('writing an existing entry drops nothing', () => {
  const map = new BoundedMap<number>({ maxEntries: 4 })
  map.set('a', 1)
  for (let at = 0; at < 10; at++) map.set('b', at)
  expect(map.get('a')).toBe(1)
})

it('a deleted entry is gone from both generations', () => {
  const map = new BoundedMap<number>({ maxEntries: 2 })
  map.set('a', 1)
  map.set('b', 2)
  map.delete('a')
  map.delete('b')
  expect([map.get('a'), map.get('b')]).toEqual([undefined, undefined])
})
