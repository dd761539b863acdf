import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, it } from 'vitest'
import { bytesOf, CacheShare, CacheSlot, cacheShares, limitCaches } from './bounded-map.ts'

setFlagsFromString('--expose-gc')
afterEach(() => limitCaches(Number.POSITIVE_INFINITY))

it.each([1_000, 64 * 1024 * 1024])('the shares of all kinds are at most the %i bytes together', (total) => {
  limitCaches(total)
  const sum = Object.values(cacheShares).reduce((bytes, { maxBytes }) => bytes + maxBytes, 0)
  expect(sum).toBeLessThanOrEqual(total)
  expect(sum).toBeGreaterThan(0.98 * total)
})

it('a list that would be the largest of all and has no room is refused, and the one before stays', () => {
  const share = new CacheShare(100)
  const [own, other] = [new CacheSlot<string>(share), new CacheSlot<string>(share)]
  expect([own.set('first', 30), other.set('other', 40), own.set('second', 70)]).toEqual([true, true, false])
  expect([own.value, other.value, share.bytes]).toEqual(['first', 'other', 70])
  expect(own.set('third', 60)).toBe(true)
})

it('the largest list gives way to a smaller one', () => {
  const share = new CacheShare(100)
  const [small, large] = [new CacheSlot<string>(share), new CacheSlot<string>(share)]
  large.set('large', 80)
  expect([small.set('small', 30), small.value, large.value]).toEqual([true, 'small', undefined])
  expect([share.bytes, share.entries, share.evictions]).toEqual([30, 1, 1])
})

const gc: () => void = runInNewContext('gc')

/** As a provider's response is read: no text is made of others. */
const read = (value: object): unknown => JSON.parse(JSON.stringify(value))
const coin = 'Тезер \u{1f4b0}'

it.each([
  ['texts', (at: number) => read([`${coin} ${at}`.repeat(20), `${at}`.repeat(20)])],
  ['records', (at: number) => read({ id: `${at}`.padStart(36, 'x'), amount: `${at}.5`, at: at + 0.5, isFinal: false, tag: null })],
  ['lists', (at: number) => read(Array.from({ length: 20 }, (_, row) => ({ row, name: `row ${at} ${row}` })))],
  ['maps', (at: number) => new Map([[`${at}`, new Set([at])]])],
])('%s: the estimate is not below what V8 takes, and at most three times as much', (_, make) => {
  const kept: unknown[] = Array.from({ length: 5_000 }, () => undefined)
  const before = heapBytes()
  for (let at = 0; at < kept.length; at++) kept[at] = make(at)
  const taken = heapBytes() - before
  const estimated = kept.reduce<number>((sum, value) => sum + bytesOf(value), 0)
  expect(estimated).toBeGreaterThan(taken)
  expect(estimated).toBeLessThan(3 * taken)
})

/** What one collection frees may let the next one free more: of the tests before as well. */
function heapBytes(): number {
  let bytes = Number.POSITIVE_INFINITY
  for (;;) {
    gc()
    const used = getHeapStatistics().used_heap_size
    if (used >= bytes) return bytes
    bytes = used
  }
}
