/**
 * Two gateways on one PostgreSQL, 200 random kills under 50 concurrent creates each, then 20 random mixes of faults: `npm run
 * test:chaos [kills] [mixes] [seed]`. Prints the figures; ends with 1 where anything was lost, doubled or shown to another.
 */
import { startPostgres } from '../support/postgres.ts'
import { killOverAndOver } from './kills.ts'
import { checkMixes } from './model.ts'
import { randomOf } from './random.ts'

const [kills = 200, mixes = 20, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number)
const accounts = ['acme', 'globex', 'initech', 'hooli', 'umbrella']
const postgres = await startPostgres(process.pid)
const began = Date.now()
const settings = { accounts, gateways: 2, ledger: await postgres.createLedger(), creates: 50, recoveryTimeoutMs: 150_000 }
const { violations, ...figures } = await killOverAndOver({ ...settings, kills, random: randomOf(seed) })
await postgres.close()

console.info({ seed, seconds: Math.round((Date.now() - began) / 1000), ...figures, violations: violations.length })
for (const line of violations) console.error(line)
process.exitCode = violations.length > 0 ? 1 : 0
await checkMixes({ numRuns: mixes, seed })
