import { expect, it, vi } from 'vitest'
import type { ReplicaFiguresStore } from '../core/operations/provider-figures.ts'
import { startReplicaFigures } from './background-jobs.ts'

it('W17: figures of processes that were killed are removed at the start of another', async () => {
  const store: ReplicaFiguresStore = { write: async () => {}, remove: vi.fn(async () => {}), read: async () => [] }
  const job = startReplicaFigures({ store, figures: {} as never, mirrorStatistics: {} as never, connected: () => [] })
  expect(store.remove).toHaveBeenCalledTimes(1)
  await job.stop()
})
