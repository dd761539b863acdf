/** What some forms can do and others cannot. Each throws for a form that cannot. */
import { ok } from 'node:assert/strict'
import type { Op } from '../../src/domain/operations.ts'
import type { Form } from '../../src/wire/form.ts'

export type Ability = keyof typeof abilities

export const abilities = {
  'asks for assets by one word': (form: Form) => asks(form, ['getRate', 'createTransaction'], ['codeFrom', 'codeTo']),
  'asks for networks': (form: Form) => asks(form, ['getRate', 'createTransaction'], ['networkFrom', 'networkTo']),
  'asks for dates': (form: Form) => asks(form, ['listTransactions'], ['dateFrom', 'dateTo']),
  'asks with memos and tags': (form: Form) => asks(form, ['createTransaction'], ['withdrawalExtraId', 'refundExtraId']),
  'answers with memos and tags': (form: Form) => answers(form, 'createTransaction', ['depositExtraId', 'withdrawalExtraId']),
  'tells the networks of a transaction': (form: Form) => answers(form, 'getTransaction', ['networkFrom', 'networkTo']),
  'tells a fee': (form: Form) => answers(form, 'getRate', ['fee']),
  'tells a message beside a rate': (form: Form) => answers(form, 'getRate', ['message']),
  'tells limits of deposits': (form: Form) => answers(form, 'listCurrencies', ['depositMin', 'depositMax']),
  'tells hashes': (form: Form) => answers(form, 'getTransaction', ['txHashIn', 'txHashOut']),
  'tells when a transaction changed': (form: Form) => answers(form, 'getTransaction', ['updatedAt']),
  'tells all in a list': (form: Form) => answers(form, 'listTransactions', [...form.vocabulary.answers.getTransaction]),
  'promises the newest first': (form: Form) => ok(form.vocabulary.newestFirst),
} as const

function asks({ vocabulary }: Form, operations: readonly Op[], fields: readonly string[]): void {
  for (const op of operations) for (const field of fields) ok(vocabulary.asks[op].has(field), `${op} cannot ask for ${field}`)
}

function answers({ vocabulary }: Form, op: Op, fields: readonly string[]): void {
  for (const field of fields) ok(vocabulary.answers[op].has(field), `${op} cannot tell ${field}`)
}
