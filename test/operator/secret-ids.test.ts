/** docs/contract-operators.md §15: an id whose second part moves money at its provider is whole for the role money alone, and in no log. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { configured, documented } from '../providers/documented.ts'
import { addresses } from '../providers/rig.ts'
import { type RunningExchange, startExchange } from '../providers/stand-ins/exchange.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'

const token = (name: string): string => `operator-token-of-${name}-0123456789`
const secret = /token\d+ofTheOrder/
const open = new AsyncDisposableStack()
let exchange: RunningExchange
let gateway: InProcessGateway
let key: string
let ids: readonly string[]

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-secret-ids-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  exchange = await startExchange(documented.fixedfloat.dialect)
  open.defer(exchange.end)
  exchange.key = documented.fixedfloat.key
  gateway = open.use(
    await InProcessGateway.start({
      directory,
      mode: 'managed',
      admin: {
        tokens: {
          whole: token('whole'),
          reader: { token: token('reader'), roles: ['read'] },
          operator: { token: token('operator'), roles: ['operate'] },
        },
      },
      providers: { fixedfloat: { form: 'fixedfloat', url: exchange.url, ...configured(documented.fixedfloat) } },
      sections: {
        assets: join(process.cwd(), 'config/assets.yaml'),
        ledger: { url: `sqlite:${join(directory, 'ledger.db')}`, refreshAfter: 0 },
      },
    }),
  )
  key = JSON.parse((await operator('whole', '/api/keys', { name: 'acme' })).text).key
  ids = [await create(), await create(), await create()]
  for (const swap of exchange.swaps) swap.status = 'EMERGENCY'
  for (const id of ids) expect((await client(`/transactions/${id}`)).text).toContain('held')
}, 60_000)
afterAll(() => open.disposeAsync())

function operator(name: string, path: string, body?: object): Promise<ReceivedResponse> {
  const headers = { authorization: `Bearer ${token(name)}`, ...(body && { 'content-type': 'application/json' }) }
  return sendRequest(gateway.adminUrl, { path, headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
}

function client(path: string, body?: object): Promise<ReceivedResponse> {
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
  const request = { path: `/a/api/v2${path}`, headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }
  return sendRequest(gateway.url, request)
}

async function create(): Promise<string> {
  const order = { coinFrom: 'ETH', coinTo: 'USDTERC20', amount: 0.1, rateType: 'float', withdrawalAddress: addresses.ETH }
  const { status, text } = await client('/transactions', order)
  expect(status, text).toBe(201)
  return JSON.parse(text).id
}

const shortOf = (id: string): string => id.split('.')[0] as string

async function firstEvents(name: string): Promise<string> {
  const ended = new AbortController()
  const headers = { authorization: `Bearer ${token(name)}` }
  const response = await fetch(`${gateway.adminUrl}/api/events`, { headers, signal: ended.signal })
  let text = ''
  for await (const part of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(part).toString()
    if (text.includes('event: unresolved')) break
  }
  ended.abort()
  return text
}

it.each(['reader', 'operator'])('%s gets the part by which people know the swap, and finds it by that', async (name) => {
  const [first = ''] = ids
  const short = shortOf(first)
  const paths = [
    '/api/transactions',
    '/api/find?text=acme',
    `/api/find?text=${encodeURIComponent(first)}`,
    `/api/find?text=${short}`,
    `/api/find?text=${short.split('~')[1]}`,
    `/api/find?text=${first.split('~')[1]}`,
    `/api/transactions/${short}/timeline`,
    `/api/transactions/${first}/timeline`,
    '/api/unresolved',
  ]
  for (const path of paths) {
    const { status, text, headers } = await operator(name, path)
    expect(status, path).toBe(200)
    expect(text, path).toContain(`"${short}"`)
    expect(`${text} ${JSON.stringify(headers)}`, path).not.toMatch(secret)
  }
  const audit = (await operator(name, '/api/audit')).text
  expect(audit).toContain(short)
  expect(audit).not.toMatch(secret)
  const events = await firstEvents(name)
  expect(events).toContain(`"${short}"`)
  expect(events).not.toMatch(secret)
})

it("no position of the reader's own tells the secret letter by letter", async () => {
  const [link] = (await operator('whole', '/api/find?text=acme&size=2')).headers.link?.toString().split('>') ?? []
  const after = JSON.parse(new URLSearchParams(link?.split('?')[1]).get('after') ?? '')
  const { provider_id: id } = after.position as { readonly provider_id: string }
  expect(id).toMatch(secret)
  const behind = async (name: string, letter: string) => {
    const position = { ...after.position, provider_id: `${id.split('.')[0]}.${letter}` }
    const query = new URLSearchParams({ text: 'acme', after: JSON.stringify({ ...after, position }) })
    return JSON.parse((await operator(name, `/api/find?${query}`)).text).data.length as number
  }
  expect([await behind('whole', 'a'), await behind('whole', 'z')]).toEqual([2, 1])
  expect([await behind('reader', 'a'), await behind('reader', 'z')]).toEqual([1, 1])
})

it('follows a list of them page by page', async () => {
  const shown: string[] = []
  for (let path: string | undefined = '/api/find?text=acme&size=1'; path; ) {
    const { text, headers }: ReceivedResponse = await operator('reader', path)
    for (const { id } of JSON.parse(text).data) shown.push(id)
    path = /<([^>]+)>; rel="next"/.exec(String(headers.link ?? ''))?.[1]
    expect(path ?? '').not.toMatch(secret)
  }
  expect(shown.toSorted()).toEqual(ids.map(shortOf).toSorted())
})

it('is whole for the role money', async () => {
  for (const path of ['/api/transactions', '/api/find?text=acme', '/api/unresolved', `/api/transactions/${ids[0]}`]) {
    expect((await operator('whole', path)).text, path).toContain(`"${ids[0]}"`)
  }
  expect(await firstEvents('whole')).toContain(`"${ids[0]}"`)
})

it('is in no line of the log and in no metric', async () => {
  expect(gateway.output).toContain('create_transaction')
  expect(gateway.output).not.toMatch(secret)
  expect(await gateway.metrics()).not.toMatch(secret)
})
