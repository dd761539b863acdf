/** docs/contract.md §3.3: a provider's whole list outlives the process that read it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { query } from '../ledger/raw.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type GatewaySettings, type StartedGateway, startGateway } from '../support/gateway.ts'
import { client, pairWords } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

const down = { status: 500, json: { error: 'x', message: 'y', code: 500 } }
let directory: string
let ledger: string
let provider: ProviderA
const running: StartedGateway[] = []

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-lists-'))
  ledger = `sqlite:${join(directory, 'ledger.db')}`
  provider = await startFormA()
})
afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.close()
  await provider.close()
  rmSync(directory, { recursive: true })
})

async function start(facts: object = {}, settings: Partial<GatewaySettings> = {}): Promise<StartedGateway> {
  const sections = { cache: { currencies: 600, rate: 0, staleFor: 3600 } }
  const gateway = await startGateway({ provider: { form: 'A', url: provider.url, ...facts }, ledger, sections, ...settings })
  running.push(gateway)
  return gateway
}

const create = ({ url }: StartedGateway): Promise<ReceivedResponse> =>
  client('A', url).post('/transactions', { ...pairWords('A', assets.btc, assets.usdtTrx), amount: 1, withdrawalAddress: 'w' })

/** Reads the list and waits until it is kept. */
async function readAndKeep(): Promise<void> {
  const gateway = await start()
  expect((await create(gateway)).status).toBe(201)
  await expect.poll(() => query(ledger, 'SELECT provider FROM currency_lists')).toHaveLength(1)
}

test('a restart while the provider fails creates by the list that is kept, and shows it', async () => {
  await readAndKeep()
  provider.reply('currencies', down)
  const next = await start()
  expect((await create(next)).status).toBe(201)
  const { status, json } = await client('A', next.url).get('/currencies')
  expect(status).toBe(200)
  expect((json as { data: readonly object[] }).data).toHaveLength(5)
})

test('what the list that is kept has as off is not offered by the next process, nor asked for', async () => {
  provider.holdings.currencies = provider.holdings.currencies.map((row) => ({ ...(row as object), canDeposit: false }))
  expectRefusal(await create(await start()), 'A', 400, 'not_offered')
  await expect.poll(() => query(ledger, 'SELECT provider FROM currency_lists')).toHaveLength(1)
  provider.reply('currencies', down)
  expectRefusal(await create(await start()), 'A', 400, 'not_offered')
  expect(provider.received('create')).toEqual([])
})

test('a list that is fresh is not read again by the next process', async () => {
  await readAndKeep()
  const read = provider.received('currencies').length
  await create(await start())
  expect(provider.received('currencies')).toHaveLength(read)
})

test('a running process finds what another one reads later', async () => {
  provider.reply('currencies', down)
  const waiting = await start()
  expectRefusal(await create(waiting), 'A', 503)
  provider.reply('currencies', () => undefined)
  await readAndKeep()
  provider.reply('currencies', down)
  await expect.poll(() => create(waiting).then(({ status }) => status)).toBe(201)
})

test('a list that is older than staleFor serves no create', async () => {
  await readAndKeep()
  provider.reply('currencies', down)
  await query(ledger, 'UPDATE currency_lists SET read_at = read_at - 3700000')
  expectRefusal(await create(await start()), 'A', 503)
})

test('a list within its lifetime serves creates, however short staleFor is', async () => {
  const gateway = await start({}, { sections: { cache: { currencies: 600, rate: 0, staleFor: 0 } } })
  expect((await create(gateway)).status).toBe(201)
  provider.reply('currencies', down)
  expect((await create(gateway)).status).toBe(201)
  expect(provider.received('currencies')).toHaveLength(1)
})

test('a clock that was set back makes no list fresh', async () => {
  await readAndKeep()
  provider.reply('currencies', down)
  await query(ledger, 'UPDATE currency_lists SET read_at = read_at + 3700000')
  expectRefusal(await create(await start()), 'A', 503)
})

test('a contradiction holds over a restart, however old it is', async () => {
  await readAndKeep()
  const contradicting = { code: 'BTC', network: 'BSC', name: 'n', icon: 'i' }
  await query(ledger, `UPDATE currency_lists SET read_at = read_at - 3700000, rows = '${JSON.stringify([contradicting])}'`)
  provider.reply('currencies', down)
  expectRefusal(await create(await start()), 'A', 400)
})

test.each([
  ['URL', (url: string) => ({ url: url.replace('/api/v2', '/api/v2/') })],
  ['tag', () => ({ tag: 'other' })],
])('another %s of the provider does not use it', async (_, factsOf) => {
  await readAndKeep()
  provider.reply('currencies', down)
  expectRefusal(await create(await start(factsOf(provider.url))), 'A', 503)
})

test.each([
  ['is refused', async (): Promise<never> => Promise.reject(new Error('no ledger'))],
  ['never ends', () => new Promise<never>(() => {})],
])('a store of lists whose work %s stops neither quotes nor lists nor creates', async (_, fail) => {
  const gateway = await start({}, { currencyLists: { loadCurrencies: fail, saveCurrencies: fail } })
  const { get } = client('A', gateway.url)
  expect((await get('/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1')).status).toBe(200)
  expect((await get('/currencies')).status).toBe(200)
  expect((await create(gateway)).status).toBe(201)
})

test('a kept list that is damaged is read again', async () => {
  await readAndKeep()
  await query(ledger, `UPDATE currency_lists SET rows = '{"a":'`)
  expect((await create(await start())).status).toBe(201)
})
