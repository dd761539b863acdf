/** The example form to which `docs/forms.md` leads works. */
import { describe, expect, it } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import type { Op } from '../../src/domain/service.ts'
import { known } from '../golden/check.ts'
import type { WireRequest } from '../golden/golden.ts'
import { callProvider } from '../golden-providers/connected.ts'
import { tidewater } from './tidewater.ts'

const order = {
  number: 'TW1',
  state: 'OPEN',
  type: 'locked',
  send: { ticker: 'usdt', chain: 'erc20' },
  get: { ticker: 'xrp', chain: 'xrp' },
  amount: '100.10',
  expected: '41.5',
  paid: null,
  deposit: { address: '0x01', tag: '', hash: null },
  payout: { address: 'rPayout', tag: '7001', hash: null },
  refund: { address: null, tag: null },
  created: 1785333869407,
  affiliate: null,
  support_url: 'https://tidewater.example/TW1',
}
const transaction = {
  id: 'TW1',
  status: 'wait',
  rateType: 'fixed',
  coinFrom: 'usdt',
  networkFrom: 'erc20',
  coinTo: 'xrp',
  networkTo: 'xrp',
  amountIn: '100.10',
  amountOut: '41.5',
  depositAddress: '0x01',
  withdrawalAddress: 'rPayout',
  withdrawalExtraId: '7001',
  createdAt: '2026-07-29T14:04:29.407Z',
}
const pair = { coinFrom: 'USDT', networkFrom: 'ERC20', coinTo: 'XRP', networkTo: 'XRP' }
const wirePair = { send: { ticker: 'usdt', chain: 'erc20' }, get: { ticker: 'xrp', chain: 'xrp' } }
const quote = { quote: { id: 'q1', gives: '41.5', expires: 1785333969 }, limits: { min: '10', max: '0' } }

type Result = { readonly sent: readonly WireRequest[]; readonly body: unknown; readonly drift: readonly string[] }

async function call(op: Op, fields: object, ...responses: readonly object[]): Promise<Result> {
  const left = [...responses]
  const respond = () => ({ status: 200, headers: {}, body: JSON.stringify(left.shift()) })
  const request = { op, key: undefined, fields: fields as Readonly<Record<string, unknown>> }
  const { sent, outcome, drift } = await callProvider(tidewater, request, {}, respond)
  if ('fault' in outcome) throw outcome.fault
  return { sent, body: known(outcome.body as object), drift }
}

describe('the form of docs/forms.md', () => {
  it('reads a transaction', async () => {
    const { body, drift, sent } = await call('getTransaction', { id: 'TW1' }, { order })
    expect([body, drift]).toEqual([transaction, []])
    expect(sent[0]).toMatchObject({ method: 'GET', path: '/orders/TW1', headers: { authorization: 'Bearer provider-key-7' } })
  })

  it('requests a quote before a create with a fixed rate', async () => {
    const create = { ...pair, amountIn: '100.10', rateType: 'fixed', withdrawalAddress: 'rPayout', withdrawalExtraId: '7001' }
    const { body, drift, sent } = await call('createTransaction', create, quote, { order })
    expect([body, drift]).toEqual([transaction, []])
    const [requested, created] = sent.map(({ body: text }) => JSON.parse(text) as object)
    expect(requested).toEqual({ ...wirePair, type: 'locked', amount: '100.10' })
    expect(created).toEqual({ ...requested, payout: { address: 'rPayout', tag: '7001' }, quote: 'q1' })
  })

  it('reads a quote, of which a maximum of 0 is none', async () => {
    const { body, drift } = await call('getRate', { ...pair, amountIn: '100.10', rateType: 'float' }, quote)
    expect([body, drift]).toEqual([{ amountIn: '100.10', amountOut: '41.5', minAmount: '10', quoteId: 'q1' }, []])
  })

  it('reads a refusal inside a 200', async () => {
    const failure = { code: 'AMOUNT_LOW', text: 'Too little', min: '10' }
    const refused = call('getRate', { ...pair, amountIn: '1', rateType: 'float' }, { failure })
    await expect(refused).rejects.toThrow(Fault)
    await expect(refused).rejects.toMatchObject({ kind: 'invalid', reason: 'below_minimum', amountRange: { minAmount: '10' } })
  })

  it('lists transactions and currencies', async () => {
    const query = { page: 3, size: 50, dateFrom: '2026-07-29' }
    const listed = await call('listTransactions', query, { orders: [order], total: 101 })
    expect(listed.body).toEqual({ items: [transaction], total: 101, dropped: 0 })
    expect(listed.sent[0]?.query).toBe('limit=50&skip=100&since=1785283200')
    const chains = [
      { chain: 'erc20', minimum: '10', confirmations: 12 },
      { chain: 'trc20', minimum: null, confirmations: 20 },
    ]
    const coin = { ticker: 'usdt', title: 'Tether', logo: '', enabled: true, chains }
    const currencies = await call('listCurrencies', { page: 1, size: 100 }, [coin, { ...coin, enabled: false }])
    const row = { coin: 'usdt', name: 'Tether', icon: '' }
    const items = [
      { ...row, network: 'erc20', depositMin: '10' },
      { ...row, network: 'trc20' },
    ]
    expect(currencies.body).toMatchObject({ items })
    expect([...listed.drift, ...currencies.drift]).toEqual([])
  })
})
