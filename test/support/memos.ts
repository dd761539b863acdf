/** A provider that carries memos and tags, under configured field names. */

import { currenciesA, transactionA } from './form-a.ts'
import { createdB, currenciesB, detailedB } from './form-b.ts'
import { readJson } from './json.ts'
import type { FormName, Pair } from './pair.ts'
import { assets, type Swap, swap } from './swaps.ts'

const xrpA = { code: 'XRP', name: 'XRP', icon: 'https://icons.test/xrp.svg', network: 'XRP', depositMin: 5, depositMax: 100_000 }
const xrpB = { code: 'XRP', name: 'XRP', icon: 'https://icons.test/xrp.svg', notes: '' }

/** From BTC to XRP, or back; each response has these facts too. */
export interface Carried {
  readonly from?: 'btc' | 'xrp'
  readonly create?: object
  /** Undefined: there is no such transaction. */
  readonly get?: object | undefined
  readonly addresses?: Partial<Swap>
}

/** The names of extra ids in the words of the provider's form. */
export function extraIdsIn(form: FormName, ids: { deposit?: string; withdrawal?: string; refund?: string }): object {
  const words = form === 'A' ? (name: string) => `${name}ExtraId` : (name: string) => `${name}_extra_id`
  return Object.fromEntries(Object.entries(ids).map(([name, id]) => [words(name), id]))
}

/** The response repeats what is sent, and what is in `carried`. */
export function carryMemos({ provider }: Pair, form: FormName, { from = 'btc', create = {}, get, addresses = {} }: Carried): void {
  provider.holdings.currencies = form === 'A' ? [...currenciesA, xrpA] : [...currenciesB, xrpB]
  const to = from === 'btc' ? assets.xrp : assets.btc
  const facts = (body: string) => {
    const { withdrawalAddress, refundAddress = null, amount } = readJson(body) as MemoRequest
    return swap({ from: assets[from], to, withdrawalAddress, refundAddress, amountIn: amount, ...addresses })
  }
  let last = ''
  provider.reply('create', ({ body }) => {
    last = body
    const { refundAddress: _, ...reported } = transactionA(facts(body))
    return { json: { ...(form === 'A' ? reported : createdB(facts(body))), ...create } }
  })
  provider.reply('get', () => {
    if (get === undefined) return undefined
    return { json: { ...(form === 'A' ? transactionA(facts(last)) : detailedB(facts(last))), ...get } }
  })
}

interface MemoRequest extends Pick<Swap, 'withdrawalAddress'> {
  readonly refundAddress?: string
  readonly amount: Swap['amountIn']
}
