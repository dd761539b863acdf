/** Random days of an operator who edits the configuration file while creates are lost and swaps are open, each day checked by the checker. */
import fc from 'fast-check'
import { OperatorWorld, providerEdits, routings, tables } from './operator-world.ts'
import { keepSeed, type Seed } from './seeds.ts'

export const operatorSeeds = 'operator'

interface Command {
  run(world: OperatorWorld): Promise<unknown>
  toString(): string
}

function command(name: string, run: Command['run']): Command {
  return { run, toString: () => name }
}

const nth = fc.nat({ max: 30 })
const create = fc
  .record({
    form: fc.constantFrom('A' as const, 'B' as const),
    account: fc.nat({ max: 1 }),
    asset: fc.constantFrom('usdtTrx' as const, 'usdtEth' as const),
    amount: fc.constantFrom('0.1', '0.25'),
    outcome: fc.constantFrom('success' as const, 'lost' as const, 'lost' as const, 'failed' as const),
  })
  .map((given) => command(`create(${JSON.stringify(given)})`, (world) => world.create(given)))

const weighted = [
  { weight: 5, arbitrary: create },
  { weight: 3, arbitrary: nth.map((which) => command(`repeat(${which})`, (world) => world.repeat(which))) },
  { weight: 2, arbitrary: nth.map((which) => command(`get(${which})`, (world) => world.read(which))) },
  { weight: 3, arbitrary: fc.constant(command('look', (world) => world.look())) },
  { weight: 1, arbitrary: fc.constant(command('an hour passes', (world) => world.anHourPasses())) },
  { weight: 1, arbitrary: fc.constant(command('the provider goes on', (world) => world.progress())) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...Object.keys(tables)).map((table) => command(`table: ${table}`, (world) => world.edit({ table }))),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(...Object.keys(providerEdits))
      .map((providers) => command(`providers: ${providers}`, (world) => world.edit({ providers }))),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...routings).map((routing) => command(`routing: ${routing}`, (world) => world.edit({ routing }))),
  },
]

const days = fc.array(fc.oneof(...weighted), { minLength: 6, maxLength: 16 })

const property = fc.asyncProperty(days, async (day) => {
  const world = await OperatorWorld.start()
  try {
    for (const { run } of day) await run(world)
  } finally {
    await world.evening()
  }
  const found = await world.violations()
  if (found.length > 0) throw new Error(found.join('\n'))
})

/** Throws what is violated, and by which day; its seed is then kept as a file. Prints the seed. */
export async function checkOperator(parameters: { readonly numRuns: number } & Partial<Seed>): Promise<void> {
  const details = await fc.check(property, parameters)
  console.info(`random days of an operator: seed ${details.seed}, ${details.numRuns} runs`)
  if (!details.failed) return
  keepSeed({ seed: details.seed, path: details.counterexamplePath ?? '0' }, operatorSeeds)
  throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance })
}
