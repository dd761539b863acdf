import { expect, it, vi } from 'vitest'
import type { ReplicaFiguresStore } from '../core/operations/provider-figures.ts'
import { startReplicaFigures } from './background-jobs.ts'

const without = { figures: {} as never, mirrorStatistics: { counts: () => undefined } as never, connected: () => [] }

function storeOf(parts: Partial<ReplicaFiguresStore>): ReplicaFiguresStore {
  return { write: vi.fn(async () => {}), remove: vi.fn(async () => {}), countOthers: async () => 0, read: async () => [], ...parts }
}

it('W17: figures of processes that were killed are removed at the start of another', async () => {
  const store = storeOf({})
  const job = startReplicaFigures({ store, ...without, seeProcesses() {} })
  expect(store.remove).toHaveBeenCalledTimes(1)
  await job.stop()
})

it('a process writes its figures when it starts, and sees itself and those that the ledger has', async () => {
  const seen = Promise.withResolvers<number>()
  const store = storeOf({ countOthers: async () => 2 })
  const job = startReplicaFigures({ store, ...without, seeProcesses: seen.resolve })
  expect(await seen.promise).toBe(3)
  expect(store.write).toHaveBeenCalledTimes(1)
  await job.stop()
})
