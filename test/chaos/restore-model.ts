/** Random traces with restores: lost responses, a provider that is honest or lies, two gateways, and clients that watch. */
import fc from 'fast-check'
import type { Postgres } from '../support/postgres.ts'
import { accounts, type Course, RestoreWorld } from './restore-world.ts'
import { keepSeed, type Seed } from './seeds.ts'

export const restoreSeeds = 'restores'

interface Command {
  readonly run: (world: RestoreWorld) => unknown
  readonly toString: () => string
}

function command(name: string, run: Command['run']): Command {
  return { run, toString: () => name }
}

const nth = fc.nat({ max: 12 })
const at = fc.nat({ max: 1 })
const account = fc.constantFrom(...accounts)

const create = fc
  .record({
    account,
    amount: fc.constantFrom('0.1', '0.25'),
    lie: fc.constantFrom<Course['lie']>(undefined, undefined, undefined, 'payout', 'amount', 'deposit'),
    isKeyed: fc.boolean(),
    isLost: fc.boolean(),
    at,
  })
  .map(({ account, amount, at, ...course }) => {
    const terms = { account, amount, address: `T-${account}` }
    return command(`create ${JSON.stringify({ ...course, terms, at })}`, (world) => world.create({ ...course, terms }, at))
  })

const ofSwap = (name: 'read' | 'watch' | 'repeat') =>
  fc.tuple(nth, at).map(([which, at]) => command(`${name} ${which} at ${at}`, (world) => world[name](which, at)))
const ofAccount = (name: 'list' | 'resume') =>
  fc.tuple(account, at).map(([account, at]) => command(`${name} of ${account} at ${at}`, (world) => world[name](account, at)))

const weighted = [
  { weight: 7, arbitrary: create },
  { weight: 3, arbitrary: ofSwap('read') },
  { weight: 2, arbitrary: ofSwap('repeat') },
  { weight: 2, arbitrary: ofSwap('watch') },
  { weight: 1, arbitrary: ofAccount('list') },
  { weight: 3, arbitrary: ofAccount('resume') },
  { weight: 3, arbitrary: at.map((at) => command(`look at ${at}`, (world) => world.look(at))) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(nth, fc.constantFrom('exchanging', 'success', 'overdue'))
      .map(([which, status]) => command(`${which} is ${status}`, (world) => world.progress(which, status))),
  },
  { weight: 1, arbitrary: nth.map((which) => command(`${which} turns`, (world) => world.turn(which))) },
  { weight: 1, arbitrary: fc.constant(command('backup', (world) => world.backup())) },
  { weight: 2, arbitrary: nth.map((which) => command(`restore ${which}`, (world) => world.restore(which))) },
  { weight: 2, arbitrary: fc.constant(command('decide', (world) => world.decide())) },
]

const traces = fc.array(fc.oneof(...weighted), { minLength: 8, maxLength: 18 })

/** Throws what is violated, and by which trace; its seed is then kept as a file. Prints the seed. `postgres`: of every second trace. */
export async function checkRestores(postgres: Postgres, parameters: { readonly numRuns: number } & Partial<Seed>): Promise<void> {
  const property = fc.asyncProperty(fc.boolean(), traces, async (isInPostgres, trace) => {
    await using world = await RestoreWorld.start(isInPostgres ? postgres : undefined)
    for (const { run } of trace) {
      await run(world)
      if (world.wrong.length > 0) throw new Error(world.wrong.join('\n'))
    }
  })
  // A trace takes a second: none is made smaller by trying hundreds.
  const details = await fc.check(property, { ...parameters, endOnFailure: true })
  console.info(`random traces with restores: seed ${details.seed}, ${details.numRuns} runs`)
  if (!details.failed) return
  keepSeed({ seed: details.seed, path: details.counterexamplePath ?? '0' }, restoreSeeds)
  throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance })
}
