/** The five requests in the three forms, by hand: as a client sends them, and as a provider receives them. */
import type { Documents, FormName } from './documents.ts'

export interface Request {
  readonly method: string
  /** Below the base URL. */
  readonly path: string
  readonly query: string
  readonly body: string
}

export type Name = keyof Documents

const get = (path: string, query = ''): Request => ({ method: 'GET', path, query, body: '' })
const post = (path: string, body: string): Request => ({ method: 'POST', path, query: '', body })

export const requests: Readonly<Record<FormName, (id: string) => Readonly<Record<Name, Request>>>> = {
  A: (id) => ({
    currencies: get('/currencies', 'page=1&size=50'),
    rate: get('/rate', 'coinFrom=BTC&coinTo=USDTTRC20&amount=0.10&rateType=float'),
    transaction: get(`/transactions/${id}`),
    create: post(
      '/transactions',
      `{ "coinFrom": "BTC", "coinTo": "USDTTRC20", "amount": 0.10, "withdrawalAddress": "TWithdraw", "refundAddress": "bc1qrefund", "rateType": "float" }`,
    ),
    list: get('/transactions', 'page=1&size=20'),
  }),
  B: (id) => ({
    currencies: get('/currencies', 'page=1&size=50'),
    rate: get('/rate', 'coinFrom=BTC&coinTo=USDT&amount=0.10&rateType=float&networkFrom=BTC&networkTo=TRX'),
    transaction: get(`/transactions/${id}`),
    create: post(
      '/transactions',
      `{ "coinFrom": "BTC", "coinTo": "USDT", "networkFrom": "BTC", "networkTo": "TRX", "amount": 0.10, "withdrawalAddress": "TWithdraw", "refundAddress": "bc1qrefund", "rateType": "float" }`,
    ),
    list: get('/transactions', 'page=1&size=20'),
  }),
  C: (id) => ({
    currencies: get('/assets', 'index=1&length=50'),
    rate: get('/quote', 'give_asset=BTC&give_chain=BTC&take_asset=USDT&take_chain=TRX&give=0.10&pricing=float'),
    transaction: get(`/swaps/${id}`),
    create: post(
      '/swaps',
      `{ "give_asset": "BTC", "give_chain": "BTC", "take_asset": "USDT", "take_chain": "TRX", "give": 0.10, "pay_out_to": "TWithdraw", "pay_back_to": "bc1qrefund", "pricing": "float" }`,
    ),
    list: get('/swaps', 'index=1&length=20'),
  }),
}

export const credentials: Readonly<Record<FormName, Readonly<Record<string, string>>>> = {
  A: { authorization: 'Bearer integrator-key-1' },
  B: { 'x-api-key': 'integrator-key-1' },
  C: { 'x-toy-token': 'integrator-key-1' },
}
