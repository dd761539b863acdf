/** Random mixes of everything that a client, a network, a provider or an operator can do, each checked by the checker. */
import fc from 'fast-check'
import { mixes } from './mixes.ts'
import { keepSeed, type Seed } from './seeds.ts'
import { World } from './world.ts'

const property = fc.asyncProperty(mixes, async (mix) => {
  await using world = await World.start({ accounts: ['acme', 'globex'], gateways: 1 })
  const model = { isUp: true, keyed: [] }
  await fc.asyncModelRun(() => ({ model, real: world }), mix)
  if (!model.isUp) await world.gateways[0]?.start()
  const found = await world.violations()
  if (found.length > 0) throw new Error(found.join('\n'))
})

/** Throws what is violated, and by which mix; its seed is then kept as a file. Prints the seed. */
export async function checkMixes(parameters: { readonly numRuns: number } & Partial<Seed>): Promise<void> {
  const details = await fc.check(property, { ...parameters, endOnFailure: true })
  console.info(`random mixes of faults: seed ${details.seed}, ${details.numRuns} runs`)
  if (!details.failed) return
  keepSeed({ seed: details.seed, path: details.counterexamplePath ?? '0' })
  throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance })
}
