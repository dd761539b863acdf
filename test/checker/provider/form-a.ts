import { digits } from '../../support/json.ts'
import type { Swap } from '../order.ts'
import { known, type ProviderForm } from './form.ts'

export const formA: ProviderForm = {
  keyOf: ({ authorization = '' }) => /^Bearer (.+)$/.exec(authorization)?.[1],
  assetsOf: ({ coinFrom, coinTo }) => ({
    from: known.find(({ code }) => code === coinFrom),
    to: known.find(({ code }) => code === coinTo),
  }),
  currencies: known.map(({ code, network }) => ({ code, name: code, icon: `https://icons.test/${code}.svg`, network })),
  rate: (query, amountTo) => ({
    coinFrom: query.get('coinFrom'),
    coinTo: query.get('coinTo'),
    amount: digits(query.get('amount') ?? '0'),
    amountTo,
    rate: digits('0.5'),
    minAmount: digits('0.001'),
    maxAmount: digits('1000'),
    rateType: query.get('rateType') ?? 'float',
  }),
  createdStatus: 201,
  created: transaction,
  got: transaction,
  listed: transaction,
  newestFirst: false,
  page: (data, pagination) => ({ data, pagination }),
  error: (code, message) => ({ error: `Error ${code}`, message, code }),
}

/** Form A has one shape for it. */
function transaction(swap: Swap): object {
  return {
    id: swap.id,
    status: swap.status,
    coinFrom: swap.from.code,
    coinTo: swap.to.code,
    amount: digits(swap.amount),
    amountTo: digits(swap.amountTo),
    depositAddress: swap.depositAddress,
    depositExtraId: swap.depositExtraId,
    withdrawalAddress: swap.withdrawalAddress,
    withdrawalExtraId: swap.withdrawalExtraId,
    refundAddress: swap.refundAddress,
    refundExtraId: swap.refundExtraId,
    createdAt: swap.createdAt,
    updatedAt: swap.updatedAt,
    rate: digits('0.5'),
    rateType: swap.rateType,
  }
}
