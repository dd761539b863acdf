/**
 * A third form, of nobody: two words for an asset like Form B, and all else different. It shows what a form costs: this
 * file, and a line in the list of forms.
 */
import { keyHeader } from '../../src/wire/credential.ts'
import { defineForm, operation } from '../../src/wire/form.ts'
import { optional, orElse, orNull } from '../../src/wire/table.ts'

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
  expectsAmount: true,
  page: { rows: 'items', meta: { total_rows: 'total', window: { index: 'page', length: 'size' } } },
  error: { problem: 'message', title: 'reason', http_status: 'status' },
  operations: {
    listCurrencies: operation<'listCurrencies'>()({
      at: 'GET /assets',
      success: 200,
      ask: { index: orElse('page', 1), length: orElse('size', 10), like: optional('search') },
      answer: { asset: 'coin', title: 'name', picture: 'icon' },
    }),
    getRate: operation<'getRate'>()({
      at: 'GET /quote',
      success: 200,
      ask: {
        give_asset: 'coinFrom',
        give_chain: optional('networkFrom'),
        take_asset: 'coinTo',
        take_chain: optional('networkTo'),
        give: 'amountIn',
        pricing: orElse('rateType', 'fixed'),
      },
      answer: { give: 'amountIn', take: 'amountOut', price: 'rate', least: 'minAmount', most: 'maxAmount', cost: optional('fee') },
    }),
    createTransaction: operation<'createTransaction'>()({
      at: 'POST /swaps',
      success: 202,
      ask: {
        give_asset: 'coinFrom',
        give_chain: 'networkFrom',
        take_asset: 'coinTo',
        take_chain: 'networkTo',
        give: 'amountIn',
        pay_out_to: 'withdrawalAddress',
        pay_back_to: optional('refundAddress'),
        pricing: orElse('rateType', 'fixed'),
      },
      answer: swap,
    }),
    listTransactions: operation<'listTransactions'>()({
      at: 'GET /swaps',
      success: 200,
      ask: { index: orElse('page', 1), length: orElse('size', 10) },
      answer: swap,
    }),
    getTransaction: operation<'getTransaction'>()({
      at: 'GET /swaps/{ref}',
      success: 200,
      ask: { ref: 'id' },
      answer: swap,
    }),
  },
})
