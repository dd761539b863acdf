import { formA } from '../../src/forms/a.ts'
import { formB } from '../../src/forms/b.ts'
import { formC } from '../form-c/c.ts'
import { testForm } from './suite.ts'

const extraIds = ['depositExtraId', 'withdrawalExtraId', 'refundExtraId']

testForm({
  form: formA,
  statuses: ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success', 'overdue', 'refunded'],
  absent: {
    listCurrencies: ['network', 'depositMin', 'depositMax'],
    getRate: ['fee'],
    createTransaction: ['refundAddress', 'updatedAt', ...extraIds],
    listTransactions: ['refundAddress', 'updatedAt', ...extraIds],
    getTransaction: ['refundAddress', 'updatedAt', ...extraIds],
  },
  skip: [
    { reason: 'one word says coin and network', tests: ['asks for networks', 'tells the networks of a transaction'] },
    {
      reason: 'its document has no such fields',
      tests: ['asks for dates', 'tells a message beside a rate', 'tells hashes', 'promises the newest first'],
    },
  ],
})

testForm({
  form: formB,
  statuses: ['wait', 'confirmation', 'exchanging', 'success', 'overdue', 'refunded'],
  absent: {
    listCurrencies: ['notes'],
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
    { reason: 'two words say coin and network', tests: ['asks for assets by one word'] },
    { reason: 'its list items are short', tests: ['tells all in a list'] },
    {
      reason: 'its document has no such fields',
      tests: ['tells a fee', 'tells limits of deposits', 'tells when a transaction changed'],
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
    { reason: 'two words say asset and chain', tests: ['asks for assets by one word'] },
    { reason: 'it knows no memos', tests: ['asks with memos and tags', 'answers with memos and tags'] },
    {
      reason: 'a toy has no such fields',
      tests: [
        'asks for dates',
        'tells a message beside a rate',
        'tells limits of deposits',
        'tells hashes',
        'tells when a transaction changed',
        'promises the newest first',
      ],
    },
  ],
})
