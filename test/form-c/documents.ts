/** The same facts in the three forms, by hand: what a provider of a form returns, and what a client of it must receive. */

/** A number with its digits; TypeScript does not have `JSON.rawJSON` yet. */
const number = (JSON as unknown as { rawJSON: (lexeme: string) => unknown }).rawJSON
const maybe = (lexeme: string | undefined): unknown => (lexeme === undefined ? undefined : number(lexeme))

export interface Facts {
  /** Before every id. */
  readonly tag: string
  readonly status: string
  /** In the order of the list. */
  readonly ids: readonly string[]
  /** The requested transaction. */
  readonly of: string
  /** The rate of a new transaction: reported by the provider, or derived. */
  readonly rate: string
  /** Of the quote, where it is known. */
  readonly fee: string | undefined
  readonly updatedAt: string | undefined
  /** Of the table, if the client's form has them. */
  readonly depositMin: string | undefined
  readonly notes: string | undefined
  /** Figures of the page that a client requested, or the gateway. */
  readonly size: number
}

const created: Readonly<Record<string, string>> = { tx6: '2026-07-28T09:00:00Z', tx7: '2026-07-29T09:00:00.5Z' }

export interface Documents {
  readonly currencies: string
  readonly rate: string
  readonly transaction: string
  readonly create: string
  readonly list: string
}

export type FormName = 'A' | 'B' | 'C'

export const documents: Readonly<Record<FormName, (facts: Facts) => Documents>> = { A: documentsA, B: documentsB, C: documentsC }

function documentsA({ tag, status, ids, of, rate, fee, updatedAt, depositMin, size }: Facts): Documents {
  const row = (code: string, name: string, network: string, least: unknown, most: unknown): object => ({
    ...{ code, name, icon: `${name}.svg`, network, depositMin: least, depositMax: most },
  })
  const transaction = (id: string): object => ({
    ...{ id: `${tag}${id}`, status, coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: number('0.10'), amountTo: number('6500.50') },
    ...{ depositAddress: 'bc1qdeposit', withdrawalAddress: 'TWithdraw', refundAddress: 'bc1qrefund', rateType: 'float' },
    ...{ rate: number('65010'), createdAt: created[id], updatedAt: updatedAt ?? created[id] },
  })
  const page = (data: readonly object[]): string => JSON.stringify({ data, pagination: { page: 1, size, total: data.length } })
  const least = maybe(depositMin)
  return {
    currencies: page([
      row('BTC', 'Bitcoin', 'BTC', least, undefined),
      row('USDTTRC20', 'Tether', 'TRX', undefined, undefined),
      row('USDTERC20', 'Tether', 'ETH', undefined, undefined),
    ]),
    rate: JSON.stringify({
      ...{ coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: number('0.10'), amountTo: number('6500.50'), rate: number('65010') },
      ...{ minAmount: number('1e-3'), maxAmount: number('10'), fee: maybe(fee), rateType: 'float' },
    }),
    transaction: JSON.stringify(transaction(of)),
    create: JSON.stringify({ ...transaction('tx7'), status: 'wait', rate: number(rate) }),
    list: page(ids.map(transaction)),
  }
}

/** The gateway's notes of USDT if the provider's form has none. */
export const networks = 'Networks: TRX, ETH'

function documentsB({ tag, status, ids, of, notes }: Facts): Documents {
  const item = (id: string): object => ({
    ...{ id: `${tag}${id}`, status, coin_from: 'BTC', coin_to: 'USDT', amount_in: number('0.10'), created_at: created[id] },
  })
  const addresses = { rate_type: 'float', deposit_address: 'bc1qdeposit', withdrawal_address: 'TWithdraw' }
  const amountOut = number('6500.50')
  const page = (data: readonly object[]): string => JSON.stringify({ data, count: data.length })
  return {
    currencies: page([
      { code: 'BTC', name: 'Bitcoin', icon: 'Bitcoin.svg', notes: notes === networks ? 'Networks: BTC' : '' },
      { code: 'USDT', name: 'Tether', icon: 'Tether.svg', notes },
    ]),
    rate: JSON.stringify({
      ...{ fromAmount: number('0.10'), toAmount: amountOut, rate: number('65010'), minAmount: number('1e-3') },
      ...{ maxAmount: number('10'), message: null },
    }),
    transaction: JSON.stringify({
      ...{ ...item(of), ...addresses, network_from: 'BTC', network_to: 'TRX', amount_out: amountOut, rate: number('65010') },
      ...{ refund_address: 'bc1qrefund', tx_hash_in: null, tx_hash_out: null },
    }),
    create: JSON.stringify({ ...item('tx7'), ...addresses, status: 'wait', amount_out_expected: amountOut }),
    list: page(ids.map((id) => ({ ...item(id), amount_out: amountOut }))),
  }
}

function documentsC({ tag, status, ids, of, rate, fee, size }: Facts): Documents {
  const swap = (ref: string): object => ({
    ...{ ref: `${tag}${ref}`, stage: status, give_asset: 'BTC', give_chain: 'BTC', take_asset: 'USDT', take_chain: 'TRX' },
    ...{ give: number('0.10'), take: number('6500.50'), price: number('65010'), pricing: 'float', opened: created[ref] },
    ...{ pay_in_to: 'bc1qdeposit', pay_out_to: 'TWithdraw', pay_back_to: 'bc1qrefund' },
  })
  const page = (rows: readonly object[]): string =>
    JSON.stringify({ rows, meta: { total_rows: rows.length, window: { index: 1, length: size } } })
  return {
    currencies: page([
      { asset: 'BTC', title: 'Bitcoin', picture: 'Bitcoin.svg' },
      { asset: 'USDT', title: 'Tether', picture: 'Tether.svg' },
    ]),
    rate: JSON.stringify({
      ...{ give: number('0.10'), take: number('6500.50'), price: number('65010'), least: number('1e-3'), most: number('10') },
      cost: maybe(fee),
    }),
    transaction: JSON.stringify(swap(of)),
    create: JSON.stringify({ ...swap('tx7'), stage: 'wait', price: number(rate) }),
    list: page(ids.map(swap)),
  }
}
