/** docs/contract-operators.md §10.4: when what a read lacks is looked for where it was written. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from './database.ts'
import { FreshReads } from './fresh-reads.ts'

const [standby, primary] = ['standby', 'primary'] as unknown as readonly [Database, Database]

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

function reads(asWritten: <T>(read: (database: Database) => Promise<T>) => Promise<T> = (read) => read(primary)) {
  const told: string[] = []
  const asked: unknown[] = []
  const fresh = new FreshReads(standby, asWritten, ({ cause }) => told.push(cause))
  /** Rows by where they are. */
  const rowOn =
    (...places: readonly Database[]) =>
    async (database: Database) => {
      asked.push(database)
      return places.includes(database) ? 'row' : undefined
    }
  return { fresh, told, asked, rowOn }
}

test('what is found is not asked for again', async () => {
  const { fresh, asked, rowOn } = reads()
  expect(await fresh.find(rowOn(standby))).toBe('row')
  expect(asked).toEqual([standby])
})

test('of what is missing, one a second is looked for where it was written', async () => {
  const { fresh, asked, rowOn } = reads()
  for (let n = 0; n < 3; n++) expect(await fresh.find(rowOn())).toBeUndefined()
  expect(asked).toEqual([standby, primary, standby, standby])
  vi.advanceTimersByTime(1_000)
  await fresh.find(rowOn())
  expect(asked.slice(4)).toEqual([standby, primary])
})

test('one that is found there is told, and for a minute all are looked for', async () => {
  const { fresh, told, asked, rowOn } = reads()
  expect(await fresh.find(rowOn(primary))).toBe('row')
  expect([fresh.isLagging, told]).toEqual([true, ['lagging_reads']])
  for (let n = 0; n < 3; n++) expect(await fresh.findWhileLagging(rowOn(primary))).toBe('row')
  expect(asked.filter((place) => place === primary)).toHaveLength(4)
  vi.advanceTimersByTime(60_000)
  expect(fresh.isLagging).toBe(false)
  expect(await fresh.findWhileLagging(rowOn(primary))).toBeUndefined()
})

test('what was written between the two reads is no lag', async () => {
  const { fresh, told } = reads()
  const places: Database[] = [primary]
  const read = async (database: Database) => {
    const isThere = places.includes(database)
    if (database === primary) places.push(standby)
    return isThere ? 'row' : undefined
  }
  expect(await fresh.find(read)).toBe('row')
  expect([fresh.isLagging, told]).toEqual([false, []])
})

test('a look that fails says nothing; while reads lag it is an error and not a row that is missing', async () => {
  const { fresh, rowOn } = reads(async () => {
    throw new Error('timeout')
  })
  expect(await fresh.find(rowOn())).toBeUndefined()
  fresh.noteLag()
  await expect(fresh.find(rowOn())).rejects.toThrow('timeout')
})
