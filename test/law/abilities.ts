/** What some forms can do and others cannot. Each throws for a form that cannot. */
import { ok } from 'node:assert/strict'
import type { Op } from '../../src/domain/swap/operations.ts'
import type { Form } from '../../src/wire/form.ts'

export type Ability = keyof typeof abilities

export const abilities = {
  'asks for assets by one word': (form: Form) => requestsFields(form, ['getRate', 'createTransaction'], ['codeFrom', 'codeTo']),
  'asks for networks': (form: Form) => requestsFields(form, ['getRate', 'createTransaction'], ['networkFrom', 'networkTo']),
  'asks for dates': (form: Form) => requestsFields(form, ['listTransactions'], ['dateFrom', 'dateTo']),
  'asks with memos and tags': (form: Form) => requestsFields(form, ['createTransaction'], ['withdrawalExtraId', 'refundExtraId']),
  'answers with memos and tags': (form: Form) => returnsFields(form, 'createTransaction', ['depositExtraId', 'withdrawalExtraId']),
  'tells the networks of a transaction': (form: Form) => returnsFields(form, 'getTransaction', ['networkFrom', 'networkTo']),
  'tells a fee': (form: Form) => returnsFields(form, 'getRate', ['fee']),
  'tells a message beside a rate': (form: Form) => returnsFields(form, 'getRate', ['message']),
  'tells limits of deposits': (form: Form) => returnsFields(form, 'listCurrencies', ['depositMin', 'depositMax']),
  'tells hashes': (form: Form) => returnsFields(form, 'getTransaction', ['txHashIn', 'txHashOut']),
  'tells when a transaction changed': (form: Form) => returnsFields(form, 'getTransaction', ['updatedAt']),
  'tells all in a list': (form: Form) =>
    returnsFields(form, 'listTransactions', [...form.capabilities.responseFields.getTransaction]),
  'promises the newest first': (form: Form) => ok(form.capabilities.newestFirst),
} as const

function requestsFields({ capabilities: vocabulary }: Form, operations: readonly Op[], fields: readonly string[]): void {
  for (const op of operations)
    for (const field of fields) ok(vocabulary.requestFields[op].has(field), `${op} cannot ask for ${field}`)
}

function returnsFields({ capabilities: vocabulary }: Form, op: Op, fields: readonly string[]): void {
  for (const field of fields) ok(vocabulary.responseFields[op].has(field), `${op} cannot tell ${field}`)
}
