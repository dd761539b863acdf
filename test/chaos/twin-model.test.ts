// Takes long: random runs of a model.
import '../model/clock.ts'
import { it } from 'vitest'
import { keptSeeds } from './seeds.ts'
import { checkTwins, twinSeeds } from './twin-model.ts'

const runs = Number(process.env.SWAPGATE_RUNS ?? 40)
const seed = process.env.SWAPGATE_SEED

it.each(keptSeeds(twinSeeds))(
  'L65: the mix that failed once, seed $seed, path $path',
  (seed) => checkTwins({ ...seed, numRuns: 1 }),
  120_000,
)

it(
  'L65: for any mix of lists, memos, ids, ledger failures, clocks and reloads no key creates two, and no client gets another’s address',
  () => checkTwins({ numRuns: runs, ...(seed !== undefined && { seed: Number(seed) }) }),
  60_000 + runs * 2_000,
)
