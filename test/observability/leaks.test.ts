/** No key and no address is in the log or in the metrics, whatever goes wrong. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { InjectedReply } from '../checker/provider/fault.ts'
import { readJournal } from '../checker/provider/journal.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import { sendRequest } from '../support/client.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { client } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'
import { canaries, leaks } from './canaries.ts'
import { logLines, requestLines } from './log-lines.ts'
import { Scrape } from './scrape.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-leaks-'))
const journal = join(directory, 'journal')
const { clientKey, strangeKey, providerKey, withdrawalAddress, refundAddress, idempotencyKey, query } = canaries
let provider: Provider
let gateway: InProcessGateway

beforeAll(async () => {
  provider = await startProvider({ form: 'A', name: 'alpha', keys: [clientKey], journal })
  const facts = { form: 'A', url: provider.url, key: providerKey, timeout: 0.5 } as const
  gateway = await InProcessGateway.start({
    directory,
    mode: 'passthrough',
    providers: { alpha: facts },
  })
}, 30_000)
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await provider?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

const order = (number: number): object => ({
  coinFrom: assets.xrp.code,
  coinTo: assets.usdtEth.code,
  amount: number,
  withdrawalAddress,
  refundAddress,
  rateType: 'float',
})

const endings: readonly InjectedReply[] = [400, 401, 403, 404, 429, 500, 'reset', 'fin', 'half', 'garbage', 'hang']

it('O1: keys and addresses are in no line and in no metric', { timeout: 60_000 }, async () => {
  const acme = client('A', gateway.url)
  const headers = { 'idempotency-key': idempotencyKey }
  const created = await acme.post('/transactions', order(1), { key: clientKey, headers })
  expect(created.status).toBe(201)
  const { id, depositAddress } = created.json as { readonly id: string; readonly depositAddress: string }
  for (const [number, ending] of endings.entries()) {
    const message = `${withdrawalAddress} and ${clientKey} are wrong`
    await provider.fault({ operation: 'create', before: ending, message })
    await provider.fault({ operation: 'get', before: ending, message })
    await acme.post('/transactions', order(number + 2), { key: clientKey })
    await acme.get(`/transactions/${id}`, { key: clientKey })
  }
  await acme.post('/transactions', order(1), { key: clientKey, headers })
  await acme.post('/transactions', `{"withdrawalAddress":"${withdrawalAddress}"`, { key: clientKey })
  await acme.get(`/transactions?${query}=1`, { key: strangeKey })
  await acme.get(`/transactions/${query}`, { key: strangeKey })
  await acme.get(`/rate?coinFrom=${query}&coinTo=XRP&amount=1`, { key: strangeKey })
  await sendRequest(gateway.url, {
    path: `/${query}`,
    headers: { authorization: `Bearer ${strangeKey}`, 'x-api-key': clientKey, host: `${query}.example` },
  })
  const classic = await gateway.metrics()
  const requestCount = new Scrape(classic).sum('swapgate_requests_total')
  await expect.poll(() => requestLines(gateway.output).length).toBe(requestCount)

  // Otherwise there was nothing to find.
  const went = JSON.stringify(readJournal(journal))
  expect(leaks({ journal: went }, { clientKey, withdrawalAddress, refundAddress })).toHaveLength(3)
  const openMetrics = await gateway.metrics('application/openmetrics-text')
  const places = { log: gateway.output, classic, openMetrics }
  expect(leaks(places, { ...canaries, depositAddress, id: id.replace(/^.*~/, '') })).toEqual([])
  expect(logLines(gateway.output).filter(({ level }) => level === 'warn').length).toBeGreaterThan(5)
})
