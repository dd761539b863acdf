/**
 * A third form that no service has: two words for an asset like Form B, and all else different. It shows what a form costs:
 * this file, and a line in the list of forms.
 */

import { keyHeader } from '../../src/wire/credential.ts'
import { defineForm, operation } from '../../src/wire/form.ts'
import { optional, orNull, withDefault } from '../../src/wire/table.ts'

const swap = {
  ref: 'id',
  stage: optional('status'),
  give_asset: 'coinFrom',
  give_chain: optional('networkFrom'),
  take_asset: 'coinTo',
  take_chain: optional('networkTo'),
  give: 'amountIn',
  take: orNull('amountOut'),
  price: optional('rate'),
  pay_in_to: 'depositAddress',
  pay_out_to: 'withdrawalAddress',
  pay_back_to: orNull('refundAddress'),
  pricing: 'rateType',
  opened: 'createdAt',
} as const

export const formC = defineForm({
  name: 'C',
  credential: keyHeader('X-Toy-Token'),
  statuses: ['wait', 'exchanging', 'success', 'refunded'],
  newestFirst: false,
  hasExpectedAmount: true,
  page: { rows: 'items', meta: { total_rows: 'total', window: { index: 'page', length: 'size' } } },
  error: { problem: 'message', title: 'reason', http_status: 'status' },
  operations: {
    listCurrencies: operation<'listCurrencies'>()({
      at: 'GET /assets',
      success: 200,
      request: { index: withDefault('page', 1), length: withDefault('size', 10), like: optional('search') },
      response: { asset: 'coin', title: 'name', picture: 'icon' },
    }),
    getRate: operation<'getRate'>()({
      at: 'GET /quote',
      success: 200,
      request: {
        give_asset: 'coinFrom',
        give_chain: optional('networkFrom'),
        take_asset: 'coinTo',
        take_chain: optional('networkTo'),
        give: 'amountIn',
        pricing: withDefault('rateType', 'fixed'),
      },
      response: {
        give: 'amountIn',
        take: 'amountOut',
        price: 'rate',
        least: 'minAmount',
        most: 'maxAmount',
        cost: optional('fee'),
      },
    }),
    createTransaction: operation<'createTransaction'>()({
      at: 'POST /swaps',
      success: 202,
      request: {
        give_asset: 'coinFrom',
        give_chain: 'networkFrom',
        take_asset: 'coinTo',
        take_chain: 'networkTo',
        give: 'amountIn',
        pay_out_to: 'withdrawalAddress',
        pay_back_to: optional('refundAddress'),
        pricing: withDefault('rateType', 'fixed'),
      },
      response: swap,
    }),
    listTransactions: operation<'listTransactions'>()({
      at: 'GET /swaps',
      success: 200,
      request: { index: withDefault('page', 1), length: withDefault('size', 10) },
      response: swap,
    }),
    getTransaction: operation<'getTransaction'>()({
      at: 'GET /swaps/{ref}',
      success: 200,
      request: { ref: 'id' },
      response: swap,
    }),
  },
})
