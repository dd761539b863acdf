/** What integrators send, right and wrong. */
import type { ReceivedResponse } from '../support/client.ts'
import { digits } from '../support/json.ts'
import { credential, type FormName, pairWords } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'
import type { Witness } from '../support/witness.ts'

export interface Sender {
  readonly form: FormName
  readonly get: (path: string, more?: Sending) => Promise<ReceivedResponse>
  readonly post: (body: unknown, more?: Sending) => Promise<ReceivedResponse>
}

interface Sending {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Null: without a key. */
  readonly key?: string | null
}

/** `url` is the base URL; paths begin below it. The witness records all of it. */
export function sender(form: FormName, url: string, standardKey: string, witness: Pick<Witness, 'sendRequest'>): Sender {
  const { pathname } = new URL(url)
  const base = pathname === '/' ? '' : pathname
  const headersOf = ({ key = standardKey, headers }: Sending): Record<string, string> => ({
    ...(key !== null && credential(form, key)),
    ...headers,
  })
  return {
    form,
    get: (path, more = {}) =>
      witness.sendRequest(url, { path: base + path, method: more.method ?? 'GET', headers: headersOf(more) }),
    post: (body, more = {}) =>
      witness.sendRequest(url, {
        path: `${base}/transactions`,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headersOf(more) },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}

const { btc, usdtTrx } = assets

export function orderOf(form: FormName, facts: object = {}): object {
  return { ...pairWords(form, btc, usdtTrx), amount: digits('0.10'), withdrawalAddress: 'TWithdraw1', ...facts }
}

export function rateOf(form: FormName, more = ''): string {
  const words = form === 'A' ? 'coinFrom=BTC&coinTo=USDTTRC20' : 'coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX'
  return `/rate?${words}&amount=0.10${more}`
}

export type Exchange = readonly [name: string, status: number, send: (sender: Sender) => Promise<ReceivedResponse>]

/** Requests that are as described, and so must be their responses. */
export const right: readonly Exchange[] = [
  ['the coins', 200, ({ get }) => get('/currencies', { key: null })],
  ['a page of coins', 200, ({ get }) => get('/currencies?page=2&size=1')],
  ['a page behind the last', 200, ({ get }) => get('/currencies?page=99')],
  ['some coins', 200, ({ get }) => get('/currencies?search=tether', { headers: { 'x-request-id': 'my-own.id_1' } })],
  [
    'coins that are known',
    304,
    async ({ get }) => get('/currencies', { headers: { 'if-none-match': (await get('/currencies')).headers.etag ?? '' } }),
  ],
  ['a rate', 200, ({ form, get }) => get(rateOf(form))],
  ['a fixed rate', 200, ({ form, get }) => get(rateOf(form, '&rateType=fixed'), { headers: { 'x-swap-form': form } })],
  ['a create', 0, ({ form, post }) => post(orderOf(form))],
  [
    'a create with all there is',
    0,
    ({ form, post }) => post(orderOf(form, everything), { headers: { 'idempotency-key': '"order-1"' } }),
  ],
  ['the same again', 0, ({ form, post }) => post(orderOf(form, everything), { headers: { 'idempotency-key': 'order-1' } })],
  ['the list', 200, ({ get }) => get('/transactions')],
  ['a page of the list', 200, ({ get }) => get('/transactions?page=2&size=1')],
]

const everything = { rateType: 'fixed', refundAddress: 'bc1q-refund-1', withdrawalExtraId: '77', refundExtraId: null }

/** Requests that are not as described. */
export const wrong: readonly Exchange[] = [
  ['an amount of nothing', 400, ({ get }) => get('/rate?coinFrom=BTC&coinTo=ETH&amount=0')],
  ['page 0', 400, ({ get }) => get('/currencies?page=0')],
  ['a page too large', 400, ({ get }) => get('/transactions?size=101')],
  ['an unknown rate type', 400, ({ form, get }) => get(rateOf(form, '&rateType=best'))],
  ['another form', 400, ({ form, get }) => get('/currencies', { headers: { 'x-swap-form': form === 'A' ? 'B' : 'A' } })],
  ['an empty order', 400, ({ post }) => post({})],
  ['an order with both amounts', 400, ({ form, post }) => post(orderOf(form, { amountTo: 5 }))],
  ['an order with an unknown field', 400, ({ form, post }) => post(orderOf(form, { withdrawalAmount: 5 }))],
  ['an amount with a unit', 400, ({ form, post }) => post(orderOf(form, { amount: '0.10 BTC' }))],
  ['an address with a space', 400, ({ form, post }) => post(orderOf(form, { withdrawalAddress: 'a b' }))],
  ['an order without a key', 401, ({ form, post }) => post(orderOf(form), { key: null })],
  ['a list without a key', 401, ({ get }) => get('/transactions', { key: null })],
  ['another method', 405, ({ get }) => get('/transactions', { method: 'DELETE' })],
  ['another type', 415, ({ form, post }) => post(orderOf(form), { headers: { 'content-type': 'text/plain' } })],
]

/** Requests that are as described, and are refused. */
export const refused: readonly Exchange[] = [
  ['an unknown coin', 400, ({ form, get }) => get(rateOf(form).replace('USDT', 'NOBODY'))],
  ['no amount', 400, ({ get }) => get('/rate?coinFrom=BTC&coinTo=ETH')],
  ['an unknown parameter', 400, ({ get }) => get('/currencies?limit=5')],
  ['a parameter twice', 400, ({ get }) => get('/currencies?size=5&size=5')],
  ['another swap', 404, ({ get }) => get('/transactions/alpha~missing')],
  ['an id of no provider', 404, ({ get }) => get('/transactions/unknown~1')],
  ['a large order', 413, ({ form, post }) => post(orderOf(form, { withdrawalAddress: 'w'.repeat(20_000) }))],
  ['a long path', 414, ({ get }) => get(`/currencies?search=${'x'.repeat(9_000)}`)],
  ['a strange expectation', 417, ({ get }) => get('/currencies', { headers: { expect: 'a-miracle' } })],
  [
    'a key for two orders',
    422,
    async ({ form, post }) => {
      const headers = { 'idempotency-key': 'order-2' }
      await post(orderOf(form), { headers })
      return post(orderOf(form, { amount: digits('7') }), { headers })
    },
  ],
]
