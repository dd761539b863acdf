import { formA } from '../../src/forms/a.ts'
import { formB } from '../../src/forms/b.ts'
import { formC } from '../form-c/c.ts'
import { testForm } from './suite.ts'

const extraIds = ['depositExtraId', 'withdrawalExtraId', 'refundExtraId']
const offers = ['canDeposit', 'canWithdraw', 'fixedRate']

testForm({
  form: formA,
  statuses: ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success', 'overdue', 'refunded'],
  absent: {
    listCurrencies: ['network', 'depositMin', 'depositMax', ...offers],
    getRate: ['fee'],
    createTransaction: ['refundAddress', 'updatedAt', ...extraIds],
    listTransactions: ['refundAddress', 'updatedAt', ...extraIds],
    getTransaction: ['refundAddress', 'updatedAt', ...extraIds],
  },
  skip: [
    { reason: 'one word is coin and network', tests: ['requests networks', 'returns the networks of a transaction'] },
    {
      reason: 'its document has no such fields',
      tests: ['requests dates', 'returns a message with a rate', 'returns hashes', 'returns the newest first'],
    },
  ],
})

testForm({
  form: formB,
  statuses: ['wait', 'confirmation', 'exchanging', 'success', 'overdue', 'refunded'],
  absent: {
    listCurrencies: ['notes', ...offers],
    getRate: ['amountOut', 'rate', 'message'],
    createTransaction: extraIds,
    listTransactions: ['amountOut'],
    getTransaction: ['networkFrom', 'networkTo', 'amountOut', 'rate', 'refundAddress', 'txHashIn', 'txHashOut', ...extraIds],
  },
  isPossible: (op, { amountOut, message, status }) => {
    if (amountOut !== undefined) return true
    return op === 'getRate' ? message !== undefined : status !== 'success'
  },
  skip: [
    { reason: 'two words are coin and network', tests: ['requests assets by one word'] },
    { reason: 'its list items are short', tests: ['returns all fields in a list'] },
    {
      reason: 'its document has no such fields',
      tests: ['returns a fee', 'returns limits of deposits', 'returns when a transaction changed'],
    },
  ],
})

testForm({
  form: formC,
  statuses: ['wait', 'exchanging', 'success', 'refunded'],
  absent: {
    listCurrencies: [],
    getRate: ['fee'],
    createTransaction: ['status', 'networkFrom', 'networkTo', 'amountOut', 'rate', 'refundAddress'],
    listTransactions: ['status', 'networkFrom', 'networkTo', 'amountOut', 'rate', 'refundAddress'],
    getTransaction: ['status', 'networkFrom', 'networkTo', 'amountOut', 'rate', 'refundAddress'],
  },
  skip: [
    { reason: 'two words are asset and chain', tests: ['requests assets by one word'] },
    { reason: 'it has no memos', tests: ['requests memos and tags', 'returns memos and tags'] },
    {
      reason: 'a toy has no such fields',
      tests: [
        'requests dates',
        'returns a message with a rate',
        'returns limits of deposits',
        'returns hashes',
        'returns when a transaction changed',
        'returns the newest first',
      ],
    },
  ],
})
