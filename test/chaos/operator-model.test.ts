// Takes long: random runs of a model.
import '../model/clock.ts'
import { it } from 'vitest'
import { checkOperator, operatorSeeds } from './operator-model.ts'
import { keptSeeds } from './seeds.ts'

const runs = Number(process.env.SWAPGATE_RUNS ?? 200)
const seed = process.env.SWAPGATE_SEED

it.each(keptSeeds(operatorSeeds))(
  'the day that failed once, seed $seed, path $path',
  (seed) => checkOperator({ ...seed, numRuns: 1 }),
  120_000,
)

it(
  'whatever an operator edits while creates are lost, no key makes two swaps, no swap is lost, and no repeat is another request',
  () => checkOperator({ numRuns: runs, ...(seed !== undefined && { seed: Number(seed) }) }),
  60_000 + runs * 2_000,
)
