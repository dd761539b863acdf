import { expect, onTestFinished, test, vi } from 'vitest'
import type { EventStore } from '../ports/transaction-events.ts'
import { EventHub, type Listener } from './event-hub.ts'

const nothing = async (): Promise<void> => {}
const watches = { watch: nothing, watchOwners: nothing, takeDue: async () => [], recordReads: nothing, postpone: nothing }

test('an identity reads at most 1,000 rows a second over all its streams, another one at once', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const hub = new EventHub({} as EventStore, watches, () => {})
  const giveBack = await Promise.all([hub.take('away', 2), hub.take('away', 2), hub.take('other', 2)])
  const turns: string[] = []
  const read = async (identity: string, rows: number): Promise<void> => {
    await hub.turnToRead(identity)
    turns.push(identity)
    hub.countRead(identity, rows)
  }
  for (const rows of [500, 500, 1]) void read('away', rows)
  await vi.advanceTimersByTimeAsync(100)
  void read('other', 1)
  await vi.advanceTimersByTimeAsync(300)
  expect(turns).toEqual(['away', 'other'])
  await vi.advanceTimersByTimeAsync(400)
  expect(turns).toEqual(['away', 'other', 'away'])
  await vi.advanceTimersByTimeAsync(400)
  expect(turns).toEqual(['away', 'other', 'away', 'away'])
  for (const give of giveBack) give?.()
  expect(hub.streams).toBe(0)
})

test('rows of one owner that cannot be read delay the listeners of no other', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let last = 1
  const store: Partial<EventStore> = {
    onWritten: () => {},
    number: async () => ({ count: 0, mayBeMore: false }),
    lastNumbers: async (owners) => new Map(owners.map((owner) => [owner, last])),
    async ofOwner(owner) {
      if (owner === 'broken') throw new Error('a row that cannot be read')
      return []
    },
  }
  const hub = new EventHub(store as EventStore, watches, () => {})
  const woken: string[] = []
  const listener = (owner: string, transaction?: string): Listener => ({
    ...{ owner, transaction, watched: undefined, readWithKey: undefined, found: undefined },
    wake: () => void woken.push(owner),
    end: () => {},
    isAllowed: async () => true,
    confirm: () => {},
  })
  hub.follow(listener('broken', 'alpha~x'))
  hub.follow(listener('other'))
  hub.start()
  onTestFinished(() => hub.close())
  await vi.advanceTimersByTimeAsync(1_000)
  woken.length = 0
  last = 2
  await vi.advanceTimersByTimeAsync(1_000)
  expect(woken).toEqual(['broken', 'other'])
})
