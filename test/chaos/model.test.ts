import { it } from 'vitest'
import { checkMixes } from './model.ts'
import { keptSeeds } from './seeds.ts'

const timeoutMs = 120_000

it.each(keptSeeds())(
  'L13: the mix that failed once, seed $seed, path $path',
  (seed) => checkMixes({ ...seed, numRuns: 1 }),
  timeoutMs,
)

it(
  'L13: random mixes of creates, retries, kills, cuts and reads keep I1, I2, I3, I6 and I11',
  () => checkMixes({ numRuns: 3 }),
  timeoutMs,
)
