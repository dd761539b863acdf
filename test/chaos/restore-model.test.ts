// Takes long: random traces, each with ledgers that are restored.
import { afterAll, beforeAll, it } from 'vitest'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { checkRestores, restoreSeeds } from './restore-model.ts'
import { keptSeeds } from './seeds.ts'

const runs = Number(process.env.SWAPGATE_RUNS ?? 30)
const seed = process.env.SWAPGATE_SEED

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.close())

it.each(keptSeeds(restoreSeeds))(
  'the trace that failed once, seed $seed, path $path',
  (seed) => checkRestores(postgres, { ...seed, numRuns: 1 }),
  120_000,
)

it(
  'no swap is payable against its create, no address is shown that is withheld, and no number is told twice',
  () => checkRestores(postgres, { numRuns: runs, ...(seed !== undefined && { seed: Number(seed) }) }),
  60_000 + runs * 6_000,
)
