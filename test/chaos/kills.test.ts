import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { rounds } from '../support/rounds.ts'
import { type Figures, killOverAndOver } from './kills.ts'
import { randomOf } from './random.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.close())

/** A short version of `npm run test:chaos`; it does not wait for the end of reconciliation. */
async function killed(kills: number, ledger?: string): Promise<Figures> {
  const seed = Date.now() % 2 ** 31
  const settings = {
    accounts: ['acme', 'globex', 'initech'],
    gateways: 2,
    kills,
    creates: 50,
    recoveryTimeoutMs: 0,
    random: randomOf(seed),
  }
  const figures = await killOverAndOver(ledger ? { ...settings, ledger } : settings)
  console.info(`kills of two gateways: seed ${seed}`, { ...figures, violations: figures.violations.length })
  return figures
}

describe('L13: kill -9 at random instants under 50 concurrent creates loses, doubles and shows nothing', () => {
  it('over two processes on one PostgreSQL', async () => {
    const { violations, applied, cutOff } = await killed(rounds(1, 6), await postgres.createLedger())
    expect(violations).toEqual([])
    expect([applied > 0, cutOff > 0]).toEqual([true, true])
  }, 120_000)

  it('over two processes on one SQLite file', async () => {
    expect((await killed(rounds(1, 4))).violations).toEqual([])
  }, 120_000)
})
