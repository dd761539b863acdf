/** Reads the order in the body of a create of Form A or B. */
import type { Order } from '../checker/order.ts'
import { type Digits, readJson } from './json.ts'
import { type AssetWords, assets } from './swaps.ts'

type RequestFields = Readonly<Record<string, unknown>>

const aliases: Readonly<Record<string, string>> = { TRC20: 'TRX', TRON: 'TRX', ERC20: 'ETH' }

/** Undefined if nothing can be created from it. */
export function readOrder(body: string): Order | undefined {
  const { coinFrom, coinTo, networkFrom, networkTo, amount, amountTo, withdrawalAddress, ...fields } = parsed(body)
  const [sent, wanted] = [amount || undefined, amountTo || undefined].map(lexemeOf)
  if (typeof coinFrom !== 'string' || typeof coinTo !== 'string' || (sent === undefined) === (wanted === undefined))
    return undefined
  if (typeof withdrawalAddress !== 'string') return undefined
  return {
    from: assetOf(coinFrom, networkFrom),
    to: assetOf(coinTo, networkTo),
    amount: sent ?? '',
    ...(wanted !== undefined && { wanted }),
    withdrawalAddress,
    rateType: fields.rateType === 'fixed' ? 'fixed' : 'float',
    ...textOf(fields, 'refundAddress'),
    ...textOf(fields, 'withdrawalExtraId'),
    ...textOf(fields, 'refundExtraId'),
  }
}

function lexemeOf(amount: unknown): string | undefined {
  return typeof amount === 'string' ? amount : ((amount ?? {}) as Partial<Digits>).rawJSON
}

function parsed(body: string): RequestFields {
  try {
    return (readJson(body) ?? {}) as RequestFields
  } catch {
    return {}
  }
}

/** `word` is a code if there is no network. An unknown asset keeps its words. */
function assetOf(word: string, network: unknown): AssetWords {
  const coin = word.toUpperCase()
  const on = typeof network === 'string' ? network.toUpperCase() : undefined
  const known: readonly AssetWords[] = Object.values(assets)
  const found = known.find((asset) =>
    on === undefined ? asset.code === coin : asset.coin === coin && asset.network === (aliases[on] ?? on),
  )
  return found ?? { code: coin, coin, network: on ?? coin }
}

/** An empty text counts as absent. */
function textOf(fields: RequestFields, name: string): object {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}
