import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sameDocument } from '../golden/document.ts'
import { documents, type Facts, type FormName, networks } from './documents.ts'
import { requestGateway, startGateway } from './gateway.ts'
import { type Provider, type ReceivedRequest, startProvider } from './provider.ts'
import { credentials, type Name, type Request, requests } from './requests.ts'

/** What each provider reports. */
const providerFacts: Readonly<Record<FormName, Facts>> = {
  A: facts({ status: 'sending', fee: '0.50', updatedAt: '2026-07-29T10:00:00Z', size: 100, depositMin: '0.0010' }),
  B: facts({ status: 'confirmation', ids: ['tx7', 'tx6'], notes: 'Mind the network' }),
  C: facts({ status: 'exchanging', fee: '0.50', size: 100 }),
}

/** What a client then receives: what its form has, what its provider reported, and what is derived from it. */
const expectedFacts: Readonly<Record<string, Facts>> = {
  'C over A': facts({ tag: 'alpha~', status: 'exchanging', fee: '0.50', size: 50 }),
  'C over B': facts({ tag: 'alpha~', status: 'wait', ids: ['tx7', 'tx6'], rate: '65005', fee: '0.5', size: 50 }),
  'A over C': facts({ tag: 'alpha~', status: 'exchanging', fee: '0.50', size: 50, depositMin: '0.0010' }),
  'B over C': facts({ tag: 'alpha~', status: 'exchanging', ids: ['tx7', 'tx6'], notes: networks }),
  'C over C': facts({ tag: 'alpha~', status: 'exchanging', fee: '0.50', size: 50 }),
}

function facts(known: Partial<Facts>): Facts {
  const unknown = {
    tag: '',
    ids: ['tx6', 'tx7'],
    of: 'tx7',
    rate: '65010',
    fee: undefined,
    updatedAt: undefined,
    depositMin: undefined,
    notes: '',
    size: 0,
  }
  return { status: '', ...unknown, ...known }
}

const success: Readonly<Record<FormName, number>> = { A: 201, B: 200, C: 202 }

describe.each([
  ['C', 'A'],
  ['C', 'B'],
  ['A', 'C'],
  ['B', 'C'],
  ['C', 'C'],
] as const)('a client of form %s over a provider of form %s', (client, spoken) => {
  let provider: Provider
  let gateway: Awaited<ReturnType<typeof startGateway>>
  beforeEach(async () => {
    provider = await startProvider(spoken, providerFacts[spoken])
    gateway = await startGateway(spoken, provider.url)
  })
  afterEach(async () => {
    await gateway.close()
    await provider.close()
  })

  const requestsOfClient = requests[client]('alpha~tx7')
  const view = expectedFacts[`${client} over ${spoken}`] as Facts

  it.each(['currencies', 'rate', 'create', 'transaction', 'list'] as const)('gets a response in its own form: %s', async (name) => {
    const { status, headers, body } = await requestGateway(gateway, client, requestsOfClient[name])
    expect(status, body).toBe(name === 'create' ? success[client] : 200)
    expect(headers).toMatchObject({ 'x-swap-form': client, 'x-swap-provider': 'alpha' })
    const size = name === 'list' ? 20 : view.size
    sameDocument(body, documents[client]({ ...view, size })[name])
  })

  it.each(['rate', 'create', 'transaction'] as const)(
    'has its whole request sent in the words of the provider: %s',
    async (name) => {
      await requestGateway(gateway, client, requestsOfClient[name])
      sameRequest(lastReceived(provider, name), requests[spoken]('tx7')[name])
    },
  )

  it('has its key carried in the header of the provider, and only if a key is needed', async () => {
    for (const name of Object.keys(requestsOfClient) as Name[]) await requestGateway(gateway, client, requestsOfClient[name])
    for (const { name, headers } of provider.received) {
      const isKeyed = name !== 'currencies' && name !== 'rate'
      const sent = Object.entries(headers).filter(([header]) => /^(?:authorization|x-api-key|x-toy-token)$/.test(header))
      expect(Object.fromEntries(sent), name).toEqual(isKeyed ? credentials[spoken] : {})
    }
    expect(new Set(provider.received.map(({ name }) => name)).size).toBe(5)
  })

  it('is refused in its own form', async () => {
    const { status, body } = await requestGateway(gateway, client, {
      ...requestsOfClient.transaction,
      path: requestsOfClient.transaction.path.replace('tx7', 'tx8'),
    })
    expect(status).toBe(404)
    const words = JSON.parse(body) as Readonly<Record<string, unknown>>
    const names: Readonly<Record<FormName, readonly string[]>> = {
      A: ['error', 'message', 'code'],
      B: ['message', 'code'],
      C: ['problem', 'title', 'http_status'],
    }
    expect(Object.keys(words)).toEqual(names[client])
    expect(Object.values(words)).toContain(404)
  })
})

describe('on the bare mount', () => {
  it('the credential of the third form chooses it, and so does its name', async () => {
    const provider = await startProvider('A', providerFacts.A)
    const gateway = await startGateway('A', provider.url)
    const choose = async (headers: Readonly<Record<string, string>>): Promise<string | undefined> => {
      const { method, query, path } = requests.C('').rate
      const response = await gateway.handle({ method, path: `/api/v2${path}`, query, headers, address: '192.0.2.1' })
      return `${response.status} ${response.headers['x-swap-form']}`
    }
    expect(await choose(credentials.C)).toBe('200 C')
    expect(await choose({ 'x-swap-form': 'C' })).toBe('200 C')
    expect(await choose({ 'x-swap-form': 'A' })).toBe('404 A')
    expect(await choose({ 'x-swap-form': 'D' })).toBe('400 C')
    await gateway.close()
    await provider.close()
  })
})

function lastReceived({ received }: Provider, name: Name): ReceivedRequest {
  return received.findLast((request) => request.name === name) as ReceivedRequest
}

function sameRequest({ query, body }: ReceivedRequest, expected: Request): void {
  expect(query.split('&').sort()).toEqual(expected.query.split('&').sort())
  if (expected.body === '') expect(body).toBe('')
  else sameDocument(body, expected.body)
}
