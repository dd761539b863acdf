// Takes long: dozens of traces with real gateways.
/** Random traces of the model, each replayed with two real gateways over one ledger. `npm run model:replay` does many. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { replay } from './replay.ts'
import { openModel } from './simulator.ts'

const traces = 25
let simulate: Awaited<ReturnType<typeof openModel>>
let postgres: Postgres
beforeAll(async () => {
  simulate = await openModel('untyped') // simulation.test.ts checks the types
  postgres = await startPostgres()
}, 60_000)
afterAll(() => postgres.close())

describe('the real gateway does what the model does', () => {
  it.each([
    ['SQLite', traces, async () => undefined],
    ['PostgreSQL', 5, () => postgres.createLedger()],
  ])(
    'I12: random traces agree, state by state (%s)',
    async (store, count, createLedger) => {
      const seed = BigInt(Date.now() % 2 ** 31)
      console.info(`model: ${count} traces of seed ${seed} on ${store}`)
      const drawn = simulate({ seed, samples: count, traces: count }).traces
      expect(drawn).toHaveLength(count)
      for (const trace of drawn) await replay(trace, await createLedger())
    },
    120_000,
  )
})
