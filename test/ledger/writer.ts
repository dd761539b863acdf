/**
 * A process that writes to a ledger, and gives numbers to changes: `writer.ts <url> <name> <creates>`. A line for each create that is kept: its
 * owner and id.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { openLedger } from '../../src/ledger/index.ts'
import { facts, intent } from './samples.ts'

const [url = '', name = '', creates = ''] = process.argv.slice(2)
/** More than a stalled machine takes: four processes with eight creates each wait for one row. */
const timeoutMs = 40_000
const { ledger, events, close } = await openLedger(url, { timeoutMs })

/** Some owners are of this process alone, one is shared; every process tries each key. */
async function create(n: number): Promise<void> {
  const owner = n % 2 === 0 ? 'shared' : `owner-${name}-${n % 7}`
  const id = `${name}-${n}`
  const made = intent({ owner })
  await ledger.begin(made)
  if (!(await ledger.complete(made.id, facts(id)))) throw new Error(`The create ${id} was refused.`)
  process.stdout.write(`${owner} ${id}\n`)
  const keyed = intent({ owner: 'shared', provider: 'keyed', idempotencyKey: { key: `${n}`, fingerprint: 'f' } })
  if (n % 10 === 0 && (await ledger.begin(keyed))) process.stdout.write(`key ${n}\n`)
}

const numbers = Array.from({ length: Number(creates) }, (_, n) => n)
const workers = Array.from({ length: 8 }, async () => {
  for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) await create(n)
})
let isWriting = true
const numbering = (async () => {
  for (; isWriting; await delay(1)) await events.number()
})()
await Promise.all(workers)
isWriting = false
await numbering
await close()
