import { expect, onTestFinished, test, vi } from 'vitest'
import type { EventStore } from '../transaction-events.ts'
import { EventHub, type Listener } from './event-hub.ts'

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
  const nothing = async (): Promise<void> => {}
  const watches = { watch: nothing, watchOwners: nothing, takeDue: async () => [], recordReads: nothing, postpone: nothing }
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
