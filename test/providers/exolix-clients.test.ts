/**
 * docs/contract.md §16.2: what public clients of Exolix send, as data, each with its source, and what it gets at this gateway. Amounts,
 * addresses and coins are those of the rig; names, places and types of the parameters are the client's.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendRequest } from '../support/client.ts'
import { type Managed, startManaged } from '../support/managed.ts'

interface Sent {
  readonly request: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  readonly status: number
  /** Members that the client reads from the response, or from its first row. */
  readonly reads?: readonly string[]
}

const json = { accept: 'application/json', 'content-type': 'application/json' }
const bare = { ...json, authorization: '<key>' }
const bearer = { ...json, authorization: 'Bearer <key>' }
const pair = { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRX' }
const addresses = { withdrawalAddress: 'TWithdraw1', refundAddress: 'bc1q-refund-1' }
const created = ['id', 'amount', 'amountTo', 'depositAddress', 'depositExtraId', 'withdrawalAddress', 'coinFrom.coinCode', 'status']
const quoted = ['minAmount', 'maxAmount', 'fromAmount', 'toAmount', 'rate', 'message']
const networks = ['network', 'name', 'shortName', 'addressRegex', 'blockExplorer', 'isDefault', 'precision']

/** Each client by its public source. `<id>`: a swap of the key. */
const clients: Readonly<Record<string, readonly Sent[]>> = {
  // github.com/EdgeApp/edge-exchange-plugins, src/swap/central/exolix.ts
  'edge-exchange-plugins': [
    {
      request: 'GET /rate?coinFrom=BTC&coinFromNetwork=BTC&coinTo=USDT&coinToNetwork=TRX&amount=0.1&rateType=fixed',
      headers: bare,
      status: 200,
      reads: quoted,
    },
    {
      request: 'POST /transactions',
      headers: bare,
      body: { ...pair, amount: 0.1, ...addresses, withdrawalExtraId: '', refundExtraId: '', rateType: 'fixed' },
      status: 201,
      reads: created,
    },
  ],
  // github.com/EdgeApp/edge-exchange-plugins, scripts/synchronizers/exolix/exolixSynchronizer.ts
  'edge-exchange-plugins, synchronizer': [
    { request: 'GET /currencies/networks?size=100&page=1', headers: bare, status: 200, reads: ['network', 'name', 'shortName'] },
  ],
  // github.com/EdgeApp/edge-reports-server, src/partners/exolix.ts
  'edge-reports-server': [
    {
      request: 'GET /transactions?page=1&size=100',
      headers: { 'content-type': 'application/json', authorization: '<key>' },
      status: 200,
      reads: [
        'id',
        'status',
        'coinFrom.coinCode',
        'coinTo.coinCode',
        'amount',
        'amountTo',
        'depositAddress',
        'hashIn.hash',
        'createdAt',
      ],
    },
  ],
  // github.com/cake-tech/cake_wallet, lib/exchange/provider/exolix_exchange_provider.dart; its get has no key
  cake_wallet: [
    {
      request: 'GET /rate?rateType=float&amount=0.1&apiToken=<key>&coinFrom=BTC&coinTo=USDT&networkFrom=BTC&networkTo=TRX',
      status: 200,
      reads: ['minAmount', 'maxAmount', 'rate'],
    },
    {
      request: 'POST /transactions',
      headers: { 'content-type': 'application/json' },
      body: { ...pair, ...addresses, rateType: 'float', apiToken: '<key>', amount: '0.1' },
      status: 201,
      reads: created,
    },
    { request: 'GET /transactions/<id>', status: 401 },
  ],
  // github.com/myshadowbank/exolix-sdk, src/index.ts
  'exolix-sdk': [
    { request: 'GET /currencies?page=1&size=50&withNetworks=true', headers: bare, status: 200, reads: ['code', 'name', 'icon'] },
    { request: 'GET /currencies/USDT/networks', headers: bare, status: 200, reads: networks },
    { request: 'GET /currencies/networks?page=1&size=10&search=TRX', headers: bare, status: 200, reads: networks },
    {
      request: 'GET /rate?coinFrom=BTC&coinTo=USDT&amount=0.1&rateType=float&networkFrom=BTC&networkTo=TRX',
      headers: bare,
      status: 200,
      reads: quoted,
    },
    { request: 'GET /transactions/<id>', headers: bare, status: 200, reads: created },
    {
      request: 'GET /transactions?page=1&size=10&search=<id>&sort=createdAt&order=desc&statuses=wait,success',
      headers: bare,
      status: 200,
      reads: created,
    },
  ],
  // github.com/Arilla0/Exolix.Net, src/Evolix.API/ExolixClient.cs; its create is no JSON by its content type, which Exolix's own
  // documentation requires, and its members begin with capitals, as those of no API: it is refused there, too, and nothing is created
  'Exolix.Net': [
    {
      request: 'GET /currencies?page=1&size=100&withNetworks=True',
      headers: { accept: 'application/json', authorization: '<key>' },
      status: 200,
      reads: ['code', 'name', 'networks'],
    },
    {
      request: 'GET /currencies/USDT/networks',
      headers: { accept: 'application/json', authorization: '<key>' },
      status: 200,
      reads: networks,
    },
    { request: 'GET /transactions?page=1&size=50', headers: { accept: 'application/json', authorization: '<key>' }, status: 200 },
    {
      request: 'POST /transactions',
      headers: { accept: 'application/json', 'content-type': 'text/plain; charset=utf-8', authorization: '<key>' },
      body: {
        ...{ CoinFrom: 'BTC', NetworkFrom: 'BTC', CoinTo: 'USDT', NetworkTo: 'TRX', Amount: 0.1, WithdrawalAmount: null },
        ...{
          WithdrawalAddress: 'TWithdraw1',
          WithdrawalExtraId: null,
          RateType: 'float',
          RefundAddress: null,
          RefundExtraId: null,
        },
      },
      status: 415,
    },
  ],
  // github.com/freQniK/exolix-swap-tui, swap.py
  'exolix-swap-tui': [
    {
      request: 'GET /rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=0.1&rateType=float',
      headers: bare,
      status: 200,
      reads: quoted,
    },
    { request: 'GET /transactions/<id>', headers: bare, status: 200, reads: ['status', 'hashIn.hash', 'hashOut.hash'] },
  ],
  // github.com/madfish-solutions/templewallet-extension, src/lib/apis/exolix/utils.ts
  'templewallet-extension': [
    {
      request: 'GET /currencies?size=100&page=1&withNetworks=true',
      headers: { authorization: '<key>' },
      status: 200,
      reads: ['code', 'icon', 'name', 'networks'],
    },
    {
      request: 'GET /rate?coinTo=USDT&coinToNetwork=TRX&coinFrom=BTC&coinFromNetwork=BTC&amount=0.1&rateType=fixed',
      headers: { authorization: '<key>' },
      status: 200,
      reads: quoted,
    },
    {
      request: 'POST /transactions',
      headers: bare,
      body: { ...pair, amount: 0.1, withdrawalAddress: 'TWithdraw1', withdrawalExtraId: '', rateType: 'fixed' },
      status: 201,
      reads: created,
    },
  ],
  // github.com/madfish-solutions/templewallet-mobile, src/utils/exolix.util.ts
  'templewallet-mobile': [
    {
      request: 'GET /transactions/<id>',
      headers: { authorization: '<key>' },
      status: 200,
      reads: ['status', 'createdAt', 'coinTo.network'],
    },
  ],
  // github.com/tari-project/wallet-ios, pull request 1232: a bearer, codes in lower case
  'tari wallet-ios': [
    {
      request: 'GET /currencies?page=1&size=1&withNetworks=true&search=usdt',
      headers: bearer,
      status: 200,
      reads: ['code', 'networks'],
    },
    { request: 'GET /currencies/usdt/networks', headers: bearer, status: 200, reads: networks },
    { request: 'GET /transactions/<id>', headers: bearer, status: 200, reads: created },
  ],
  // github.com/m2049r/xmrwallet, …/service/shift/provider/exolix; a create that leaves a network open is refused, whatever the coin
  xmrwallet: [
    {
      request: 'GET /rate?rateType=float&amount=0.1&coinFrom=BTC&coinTo=USDT&networkTo=TRX',
      headers: { authorization: '<key>' },
      status: 200,
      reads: ['rate', 'minAmount', 'maxAmount'],
    },
    {
      request: 'POST /transactions',
      headers: bare,
      body: { rateType: 'float', amount: 0.1, coinFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRX', withdrawalAddress: 'TWithdraw1' },
      status: 400,
    },
  ],
}

let managed: Managed
let key: string
let id: string
beforeAll(async () => {
  managed = await startManaged({ routing: ['alpha'], sections: { exolix: { keyInQuery: true } } })
  key = await managed.issue()
  const body = { ...pair, ...addresses, amount: '0.1', rateType: 'float' }
  const response = await send({ request: 'POST /transactions', headers: bare, body, status: 201 })
  id = (response.json as { readonly id: string }).id
})
afterAll(() => managed.close())

function send({ request, headers = {}, body, status }: Sent): ReturnType<typeof sendRequest> {
  if (status === 201)
    for (const invariant of ['I1', 'I2', 'I4', 'I6'] as const)
      managed.witness.excuse(invariant, 'The checker has no client of this form.')
  const filled = (text: string): string => text.replace('<key>', key).replace('<id>', id)
  const [method = '', path = ''] = filled(request).split(' ')
  return sendRequest(managed.gateway.url, {
    method,
    path: `/exolix/api/v2${path}`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
    ...(body && { body: filled(JSON.stringify(body)) }),
  })
}

type Members = Readonly<Record<string, unknown>>

/** The response, or its first row. */
function rowOf(response: unknown): Members {
  const rows = Array.isArray(response) ? response : (response as { readonly data?: unknown }).data
  return (Array.isArray(rows) ? rows[0] : response) as Members
}

describe.each(Object.entries(clients))('%s', (_, requests) => {
  it.each(requests)('$request is $status', async (sent) => {
    const { status, json: response, text } = await send(sent)
    expect(status, text).toBe(sent.status)
    expect(text).not.toContain(key)
    if (status >= 400) expect(response).toMatchObject({ message: expect.any(String), errors: expect.any(Object) })
    const row = rowOf(response)
    for (const path of sent.reads ?? [])
      expect(
        path.split('.').reduce<unknown>((value, name) => (value as Members)[name], row),
        path,
      ).toBeDefined()
  })
})
