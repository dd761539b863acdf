/** After a run with faults and repeated reads, the counters agree with clients and the provider's journal. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Fault } from '../checker/provider/fault.ts'
import { type Journal, readJournal } from '../checker/provider/journal.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { type Client, client, rateQuery } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'
import { Scrape } from './scrape.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-accuracy-'))
const journal = join(directory, 'journal')
const providerKey = 'own-key-of-the-gateway-1'
let provider: Provider
let gateway: InProcessGateway

beforeAll(async () => {
  provider = await startProvider({ form: 'B', name: 'alpha', keys: [providerKey], journal })
  const facts = { form: 'B', url: provider.url, key: providerKey, timeout: 3 } as const
  const sections = { cache: { rate: 0 }, ledger: { url: `sqlite:${join(directory, 'ledger.db')}`, refresh: 0 } }
  gateway = await InProcessGateway.start({ directory, mode: 'managed', providers: { alpha: facts }, sections })
}, 30_000)
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await provider?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

/** None of these, nor two in a row, opens the breaker: not every client gets them at the same time. */
const createFaults: readonly Fault[] = [
  { before: 500 },
  { after: 'reset' },
  { after: 'garbage' },
  { before: 400, message: 'No.' },
  { swap: 'coinTo' },
]
const readFaults: readonly Fault[] = [{ before: 503 }, { before: 'reset' }, { before: 'garbage' }]

type Kind = 'rate' | 'create' | 'get' | 'list' | 'strange'

interface RecordedResponse {
  readonly kind: Kind
  readonly response: ReceivedResponse
}

function order(number: number, form: 'A' | 'B'): object {
  const { xrp, usdtEth } = assets
  const words =
    form === 'A'
      ? { coinFrom: xrp.code, coinTo: usdtEth.code }
      : { coinFrom: xrp.coin, networkFrom: xrp.network, coinTo: usdtEth.coin, networkTo: usdtEth.network }
  return { ...words, amount: number, withdrawalAddress: `0xWithdraw${number}`, rateType: 'float' }
}

/** One customer's day; every response is recorded. `phase`: when it meets faults. */
async function live(who: Client, key: string, first: number, phase: number, responses: RecordedResponse[]): Promise<void> {
  const note = async (kind: Kind, pending: Promise<ReceivedResponse>): Promise<ReceivedResponse> => {
    const response = await pending
    responses.push({ kind, response })
    return response
  }
  for (let number = first; number < first + 40; number++) {
    const fault = number % 4 === phase ? createFaults[Math.floor(number / 4) % createFaults.length] : undefined
    const body = order(number, who.form)
    if (fault) await provider.fault({ operation: 'create', having: `0xWithdraw${number}"`, ...fault })
    const created = await note('create', who.post('/transactions', body, { key }))
    const wanted = { from: assets.xrp, to: assets.usdtEth, amount: String(number) }
    if ((number + phase) % 3 === 0)
      await provider.fault({ operation: 'rate', having: `=${number}&`, ...readFaults[Math.floor(number / 3) % readFaults.length] })
    await note('rate', who.get(`${rateQuery(who.form, wanted)}&rateType=float`))
    if (created.status < 300) await note('get', who.get(`/transactions/${(created.json as { id: string }).id}`, { key }))
    await note('list', who.get('/transactions', { key: number % 6 === 0 ? 'unknown-key' : key }))
    await note('strange', who.get('/nowhere', { key }))
  }
}

const routes: Readonly<Record<Kind, readonly [path: string, operation: string]>> = {
  rate: ['/rate', 'get_rate'],
  create: ['/transactions', 'create_transaction'],
  get: ['/transactions/{id}', 'get_transaction'],
  list: ['/transactions', 'list_transactions'],
  strange: ['', 'none'],
}
const operations = {
  currencies: 'list_currencies',
  rate: 'get_rate',
  create: 'create_transaction',
  list: 'list_transactions',
  get: 'get_transaction',
}

function tally(words: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]))
}

function received(entries: Journal) {
  return entries.filter((entry) => entry.what === 'received')
}

it('O8: metrics, clients and the journal of the provider agree', { timeout: 120_000 }, async () => {
  const responses: RecordedResponse[] = []
  const keys = [await gateway.createKey('acme'), await gateway.createKey('globex')] as const
  await Promise.all([
    live(client('A', gateway.url), keys[0], 1_000, 1, responses),
    live(client('B', gateway.url), keys[1], 2_000, 3, responses),
  ])
  const scrape = new Scrape(await gateway.metrics())
  const entries = readJournal(journal)

  // The responses to clients, by operation and by status.
  expect(scrape.sum('swapgate_requests_total')).toBe(responses.length)
  expect(scrape.by('swapgate_requests_total', 'operation')).toEqual(tally(responses.map(({ kind }) => routes[kind][1])))
  expect(scrape.by('http_server_request_duration_seconds_count', 'http_response_status_code')).toEqual(
    tally(responses.map(({ response }) => String(response.status))),
  )
  const reasons = responses.map(({ response }) => response.headers['x-swap-reason']).filter((reason) => reason !== undefined)
  expect(scrape.by('swapgate_errors_total', 'reason')).toEqual(tally(reasons.map(String)))
  // A read that fails is made again only within the budget of retries.
  expect(new Set([...reasons, 'provider_failed'])).toEqual(
    new Set(['above_maximum', 'key_invalid', 'mismatch', 'outcome_unknown', 'path', 'provider_failed']),
  )
  const having = (status: number) => responses.filter(({ response }) => response.status === status).length
  const errors = scrape.by('swapgate_requests_total', 'error_type')
  const { provider_contradicted: contradicted = 0 } = errors
  expect(errors.none).toBe(responses.filter(({ response }) => response.status < 300).length)
  expect(errors.provider_unknown_outcome).toBe(having(504))
  expect(errors.caller_unauthorized).toBe(having(401))
  expect(scrape.sum('swapgate_key_refusals_total', { reason: 'unknown' })).toBe(having(401))
  expect(scrape.sum('swapgate_create_outcomes_total', { outcome: 'unknown' })).toBe(having(504))
  expect(scrape.sum('swapgate_create_outcomes_total', { outcome: 'contradicted' })).toBe(contradicted)
  expect([having(504), contradicted, having(401)].every((count) => count > 2)).toBe(true)

  // The calls that were sent, by operation; without a connection none was.
  expect(scrape.sum('swapgate_provider_calls_total', { outcome: 'unreachable' })).toBe(0)
  expect(scrape.by('swapgate_provider_calls_total', 'operation')).toEqual(
    tally(received(entries).map(({ operation }) => operations[operation as keyof typeof operations])),
  )
  expect(scrape.sum('http_client_request_duration_seconds_count')).toBe(received(entries).length)
  const again = Map.groupBy(
    received(entries).filter(({ operation }) => operation === 'rate'),
    ({ headers }) => headers['x-request-id'],
  )
  const repeated = [...again.values()].filter((tries) => tries.length > 1).length
  expect(repeated).toBeGreaterThan(5)
  expect(scrape.sum('swapgate_provider_retries_total', { made: 'true' })).toBe(repeated)
  const done = scrape.sum('swapgate_provider_calls_total', { operation: 'create_transaction', outcome: 'done' })
  expect(done).toBe(contradicted + responses.filter(({ kind, response }) => kind === 'create' && response.status < 300).length)
})
