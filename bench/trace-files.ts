/**
 * How many files of `src/` a warm request enters, and how many functions it runs, by the coverage of V8: `npm run trace:files`. Each request
 * is the least of several: what the process does by itself may come into one of them. With `-- files` it also prints the files.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sendRequest } from '../test/support/client.ts'
import { startFormA } from '../test/support/form-a.ts'
import { InProcessGateway } from '../test/support/in-process-gateway.ts'

const warmUps = 30
const rounds = 9
/** Milliseconds in which what follows a response ends. */
const settleMs = 20
const source = new URL('../src/', import.meta.url).href

interface Traced {
  readonly files: readonly string[]
  readonly functions: number
}

async function trace(session: Session, send: () => Promise<void>): Promise<Traced> {
  await session.post('Profiler.takePreciseCoverage') // sets the counts to 0
  await send()
  await wait(settleMs)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const entered = result.flatMap(({ url, functions }) => {
    const ran = functions.filter(({ ranges: [range] }) => (range?.count ?? 0) > 0).length
    return url.startsWith(source) && ran > 0 ? [{ file: url.slice(source.length), ran }] : []
  })
  return { files: entered.map(({ file }) => file).sort(), functions: entered.reduce((sum, { ran }) => sum + ran, 0) }
}

const directory = mkdtempSync(join(tmpdir(), 'swapgate-files-'))
const provider = await startFormA()
const gateway = await InProcessGateway.start({
  directory,
  mode: 'managed',
  providers: { alpha: { form: 'A', url: provider.url, key: 'own-key' } },
  sections: { ledger: { url: `sqlite:${join(directory, 'ledger.db')}` }, limits: { quotes: 100_000, create: 100_000 } },
})
const authorization = `Bearer ${await gateway.createKey('acme')}`
let made = 0
const requests: Readonly<Record<string, () => Promise<void>>> = {
  async create() {
    const order = { coinFrom: 'BTC', coinTo: 'ETH', amount: 0.1, withdrawalAddress: '0x52908400098527886E0F7030069857D2E4169EE7' }
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': `key-${++made}` }
    await expectStatus(201, { method: 'POST', path: '/a/api/v2/transactions', headers, body: JSON.stringify(order) })
  },
  async rate() {
    await expectStatus(200, { path: '/a/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=0.1' })
  },
}

async function expectStatus(wanted: number, request: Parameters<typeof sendRequest>[1]): Promise<void> {
  const { status, text } = await sendRequest(gateway.url, request)
  if (status !== wanted) throw new Error(`${request.path}: ${status} ${text}`)
}

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
for (const [name, send] of Object.entries(requests)) {
  for (let count = 0; count < warmUps; count++) await send()
  const traced: Traced[] = []
  for (let round = 0; round < rounds; round++) traced.push(await trace(session, send))
  const [least] = traced.toSorted((one, other) => one.functions - other.functions)
  console.log(`${name}: ${least?.files.length} files, ${least?.functions} functions`)
  if (process.argv.includes('files')) for (const file of least?.files ?? []) console.log(`  ${file}`)
}
session.disconnect()
await gateway[Symbol.asyncDispose]()
await provider.close()
rmSync(directory, { recursive: true })
