import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CacheShare } from '../../domain/bounded-map.ts'
import { ListSnapshots } from './sorted-list.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const rows = (length: number, characters = 0) => ({ rows: Array.from({ length }, (_, at) => at), characters })

/** Reads lists with this number of rows and characters, and counts the reads of each owner. */
function rig(maxBytes: number, length: number, characters = 0) {
  const snapshots = new ListSnapshots<ReturnType<typeof rows>>(30_000, new CacheShare(maxBytes))
  const fetches: string[] = []
  const page = (owner: string, at: number): Promise<unknown> =>
    snapshots.get(owner, at === 1, async () => {
      fetches.push(owner)
      return rows(length, characters)
    })
  return { snapshots, fetches, page }
}

test.each([
  ['of rows', 300_000, 160, 0],
  ['of texts', 300_000, 1, 50_000],
])('V20: lists beyond the share of memory are dropped, the oldest first: %s', async (_, maxBytes, length, characters) => {
  const { fetches, page } = rig(maxBytes, length, characters)
  for (const owner of ['a', 'b', 'c']) await page(owner, 1)
  for (const owner of ['c', 'b', 'a']) await page(owner, 2)
  expect(fetches).toEqual(['a', 'b', 'c', 'a'])
})

test('V20: a list that is longer than half of the share is read for each page', async () => {
  const { fetches, page } = rig(300_000, 300)
  for (const at of [1, 2, 3]) await page('a', at)
  expect(fetches).toEqual(['a', 'a', 'a'])
})

test('V20: a list that is dropped, read again or expired no longer counts', async () => {
  const { snapshots, fetches, page } = rig(300_000, 160)
  await page('a', 1)
  await page('a', 1)
  snapshots.forget('a')
  await page('b', 1)
  await page('c', 1)
  await page('b', 2)
  expect(fetches).toEqual(['a', 'a', 'b', 'c'])
  vi.advanceTimersByTime(30_000)
  await page('b', 2)
  await page('c', 2)
  expect(fetches).toEqual(['a', 'a', 'b', 'c', 'b', 'c'])
})

test('a failed read goes only to the callers that wait for it', async () => {
  const snapshots = new ListSnapshots<ReturnType<typeof rows>>(30_000, new CacheShare(100_000))
  const failing = snapshots.get('a', true, () => Promise.reject(new Error('broken')))
  const waiting = snapshots.get('a', false, async () => rows(1))
  await expect(Promise.all([failing, waiting])).rejects.toThrow('broken')
  await expect(snapshots.get('a', false, async () => rows(2))).resolves.toEqual(rows(2))
})
