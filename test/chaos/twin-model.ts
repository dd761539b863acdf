/** Random mixes of clients, shifting lists, twins, memos, repeated ids, a ledger that fails, clocks and reloads. */
import fc from 'fast-check'
import { keepSeed, type Seed } from './seeds.ts'
import { twinMixes } from './twin-commands.ts'
import { violations } from './twin-violations.ts'
import { TwinWorld } from './twin-world.ts'

export const twinSeeds = 'twins'
const omissions = fc.subarray(['memo', 'network'] as const)

const property = fc.asyncProperty(fc.boolean(), omissions, twinMixes, async (isManaged, omitted, mix) => {
  await using real = await TwinWorld.start(isManaged, omitted)
  for (const command of mix) {
    await command.run(real)
    const found = await violations(real)
    if (found.length > 0) throw new Error(found.join('\n'))
  }
})

/** Throws what is violated, and by which mix; its seed is then kept as a file. Prints the seed. */
export async function checkTwins(parameters: { readonly numRuns: number } & Partial<Seed>): Promise<void> {
  const details = await fc.check(property, parameters)
  console.info(`random mixes over two gateways: seed ${details.seed}, ${details.numRuns} runs`)
  if (!details.failed) return
  keepSeed({ seed: details.seed, path: details.counterexamplePath ?? '0' }, twinSeeds)
  throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance })
}
