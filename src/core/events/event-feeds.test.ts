import { expect, onTestFinished, test, vi } from 'vitest'
import type { Context, SwapService } from '../../domain/service.ts'
import type { EventStore, TransactionEvent } from '../ports/transaction-events.ts'
import { eventFeeds } from './event-feeds.ts'
import { EventHub } from './event-hub.ts'

const context = {
  caller: { identity: 'acme', key: 'key', address: '127.0.0.1' },
  clientCapabilities: { hasExpectedAmount: false },
} as unknown as Context

/** The number `number` of the account. */
const row = (number: number): TransactionEvent => ({
  ...{ number, transactionNumber: number, at: 0, isPayable: true, isFinal: false },
  entry: {
    ...{ owner: 'acme', provider: 'alpha', isCreated: true, derived: [], reportedAt: 0 },
    transaction: { id: 'x', status: 'wait', createdAt: '2026-01-01T00:00:00Z' },
  } as unknown as TransactionEvent['entry'],
})

test('a stream whose key nobody can check sends nothing until that is known again, and then misses nothing', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let rows: readonly TransactionEvent[] = []
  const store: Partial<EventStore> = {
    onWritten: () => {},
    number: async () => ({ count: 0, mayBeMore: false }),
    lastNumbers: async (owners) => new Map(owners.map((owner) => [owner, rows.length])),
    ofOwner: async (_, after) => rows.slice(after),
    rangeOfOwner: async () => ({ oldest: 1, last: rows.length }),
  }
  const nothing = async (): Promise<void> => {}
  const watches = { watch: nothing, watchOwners: nothing, takeDue: async () => [], recordReads: nothing, postpone: nothing }
  const hub = new EventHub(store as EventStore, watches, () => {})
  const isAllowed = vi.fn(async () => true)
  const feeds = eventFeeds({
    ...{ service: {} as SwapService, events: store as EventStore, hub },
    ...{ isManaged: true, maxStreamsOf: () => 1, isAllowed },
  })
  hub.start()
  onTestFinished(() => hub.close())
  const feed = await feeds.watchTransactions?.(context, undefined)
  if (!feed) throw new Error('There is no stream.')
  const sent: (number | undefined)[] = []
  const read = async (): Promise<void> => {
    for (let events = await feed.next(); events; events = await feed.next())
      sent.push(...events.map((each) => (each.event === 'gap' ? undefined : each.id)))
  }
  void read()
  rows = [row(1)]
  await vi.advanceTimersByTimeAsync(3_000)
  expect(sent).toEqual([0, 1])
  isAllowed.mockRejectedValue(new Error('the ledger does not answer'))
  await vi.advanceTimersByTimeAsync(6_000)
  rows = [row(1), row(2)]
  await vi.advanceTimersByTimeAsync(60_000)
  expect(sent).toEqual([0, 1])
  isAllowed.mockResolvedValue(true)
  await vi.advanceTimersByTimeAsync(4_000)
  expect(sent).toEqual([0, 1, 2])
  isAllowed.mockRejectedValue(new Error('the ledger does not answer'))
  rows = [row(1), row(2), row(3)]
  await vi.advanceTimersByTimeAsync(1_500)
  expect(sent).toEqual([0, 1, 2, 3])
})
