import { expect, it } from 'vitest'
import { BoundedMap, CacheShare } from './bounded-map.ts'

const share = new CacheShare(1_000_000)

it('keeps entries that were read within the lifetime, and drops the others', () => {
  const map = new BoundedMap<string>({ share, maxEntries: 10, lifetimeMs: 60 })
  map.set('read', 'a', 0)
  map.set('left', 'b', 0)
  for (const now of [50, 100, 150, 200]) expect(map.get('read', now), `${now}`).toBe('a')
  expect(map.get('left', 200)).toBeUndefined()
})

it('drops the oldest half first once it is full', () => {
  const map = new BoundedMap<number>({ share, maxEntries: 10, lifetimeMs: 60 })
  for (let at = 0; at < 11; at++) map.set(`${at}`, at, 0)
  expect(map.get('0', 0)).toBeUndefined()
  expect(map.get('5', 0)).toBe(5)
  expect(map.get('10', 0)).toBe(10)
})

it('without a lifetime only the number of entries drops them', () => {
  const map = new BoundedMap<number>({ share, maxEntries: 4 })
  for (let at = 0; at < 3; at++) map.set(`${at}`, at)
  expect([0, 1, 2].map((at) => map.get(`${at}`))).toEqual([0, 1, 2])
  for (let at = 3; at < 9; at++) map.set(`${at}`, at)
  expect(map.get('0')).toBeUndefined()
  expect(map.get('8')).toBe(8)
})

it('writing an existing entry drops nothing', () => {
  const map = new BoundedMap<number>({ share, maxEntries: 4 })
  map.set('a', 1)
  for (let at = 0; at < 10; at++) map.set('b', at)
  expect(map.get('a')).toBe(1)
})

it('a deleted entry is gone from both generations', () => {
  const map = new BoundedMap<number>({ share, maxEntries: 2 })
  map.set('a', 1)
  map.set('b', 2)
  map.delete('a')
  map.delete('b')
  expect([map.get('a'), map.get('b')]).toEqual([undefined, undefined])
})

it('takes no more bytes than its share, and drops the oldest entries first', () => {
  const small = new CacheShare(10_000)
  const map = new BoundedMap<string>({ share: small, maxEntries: 1_000 })
  for (let at = 0; at < 100; at++) {
    map.set(`${at}`, 'x'.repeat(1_000))
    expect(map.get(`${at}`), `${at}`).toBeDefined()
    expect(small.bytes).toBeLessThanOrEqual(10_000)
  }
  expect([small.bytes, small.entries]).toEqual([map.bytes, map.entries])
  expect(map.get('0')).toBeUndefined()
  expect(small.entries + small.evictions).toBe(100)
})

it('an entry that is read often stays, however many others come', () => {
  const map = new BoundedMap<string>({ share: new CacheShare(10_000), maxEntries: 1_000 })
  map.set('read', 'a')
  for (let at = 0; at < 100; at++) {
    map.set(`${at}`, 'x'.repeat(500))
    expect(map.get('read'), `${at}`).toBe('a')
  }
})

it('what is larger than half of the share is not kept, and displaces nothing', () => {
  const map = new BoundedMap<string>({ share: new CacheShare(10_000), maxEntries: 1_000 })
  map.set('small', 'a')
  map.set('large', 'x'.repeat(6_000))
  expect([map.get('small'), map.get('large')]).toEqual(['a', undefined])
})

it('an entry that has grown counts with its new size once it is set again', () => {
  const map = new BoundedMap<string[]>({ share: new CacheShare(10_000), maxEntries: 1_000 })
  const texts: string[] = []
  map.set('texts', texts)
  const before = map.bytes
  texts.push('x'.repeat(1_000))
  map.set('texts', texts)
  expect(map.bytes - before).toBeGreaterThanOrEqual(1_000)
  map.delete('texts')
  expect([map.bytes, map.entries]).toEqual([0, 0])
})

it('of two caches with one share, the larger one makes room for the other', () => {
  const common = new CacheShare(10_000)
  const [honest, hostile] = [0, 1].map(() => new BoundedMap<string>({ share: common, maxEntries: 1_000 })) as [
    BoundedMap<string>,
    BoundedMap<string>,
  ]
  for (let at = 0; at < 5; at++) honest.set(`${at}`, 'x'.repeat(100))
  for (let at = 0; at < 100; at++) hostile.set(`${at}`, 'x'.repeat(1_000))
  for (let at = 5; at < 10; at++) honest.set(`${at}`, 'x'.repeat(100))
  expect(common.bytes).toBeLessThanOrEqual(10_000)
  expect(honest.entries).toBe(10)
})
