import { digits } from '../../support/json.ts'
import type { AssetWords } from '../../support/swaps.ts'
import type { Swap } from '../order.ts'
import { known, type ProviderForm } from './form.ts'

export const formB: ProviderForm = {
  keyOf: ({ 'x-api-key': key }) => (typeof key === 'string' ? key : undefined),
  assetsOf: ({ coinFrom, networkFrom, coinTo, networkTo }) => ({ from: find(coinFrom, networkFrom), to: find(coinTo, networkTo) }),
  currencies: [...new Set(known.map(({ coin }) => coin))].map((coin) => ({
    code: coin,
    name: coin,
    icon: `https://icons.test/${coin}.svg`,
    notes: '',
  })),
  rate: (query, amountTo) => ({
    fromAmount: digits(query.get('amount') ?? '0'),
    toAmount: amountTo,
    rate: digits('0.5'),
    minAmount: digits('0.001'),
    maxAmount: digits('1000'),
    message: null,
  }),
  createdStatus: 200,
  created: (swap) => ({
    ...short(swap),
    amount_out_expected: digits(swap.amountTo),
    rate_type: swap.rateType,
    deposit_address: swap.depositAddress,
    withdrawal_address: swap.withdrawalAddress,
    ...extraIds(swap),
  }),
  got: (swap) => ({
    ...short(swap),
    amount_out: digits(swap.amountTo),
    network_from: swap.from.network,
    network_to: swap.to.network,
    rate: digits('0.5'),
    rate_type: swap.rateType,
    deposit_address: swap.depositAddress,
    withdrawal_address: swap.withdrawalAddress,
    refund_address: swap.refundAddress ?? null,
    tx_hash_in: null,
    tx_hash_out: null,
    ...extraIds(swap),
  }),
  listed: (swap) => ({ ...short(swap), amount_out: digits(swap.amountTo) }),
  newestFirst: true,
  page: (data, { total }) => ({ data, count: total }),
  error: (code, message) => ({ message, code }),
}

function find(coin: string | undefined, network: string | undefined): AssetWords | undefined {
  return known.find((asset) => asset.coin === coin && asset.network === network)
}

/** What all its shapes have. */
function short(swap: Swap): object {
  return {
    id: swap.id,
    status: swap.status,
    coin_from: swap.from.coin,
    coin_to: swap.to.coin,
    amount_in: digits(swap.amount),
    created_at: swap.createdAt,
  }
}

function extraIds({ depositExtraId, withdrawalExtraId, refundExtraId }: Swap): object {
  return { deposit_extra_id: depositExtraId, withdrawal_extra_id: withdrawalExtraId, refund_extra_id: refundExtraId }
}
