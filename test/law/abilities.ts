/** What some forms can do and others cannot. Each throws for a form that cannot. */
import { ok } from 'node:assert/strict'
import type { Op } from '../../src/domain/service.ts'
import type { Form } from '../../src/wire/form.ts'

export type Ability = keyof typeof abilities

export const abilities = {
  'requests assets by one word': (form: Form) => requestsFields(form, ['getRate', 'createTransaction'], ['codeFrom', 'codeTo']),
  'requests networks': (form: Form) => requestsFields(form, ['getRate', 'createTransaction'], ['networkFrom', 'networkTo']),
  'requests dates': (form: Form) => requestsFields(form, ['listTransactions'], ['dateFrom', 'dateTo']),
  'requests memos and tags': (form: Form) => requestsFields(form, ['createTransaction'], ['withdrawalExtraId', 'refundExtraId']),
  'returns memos and tags': (form: Form) => returnsFields(form, 'createTransaction', ['depositExtraId', 'withdrawalExtraId']),
  'returns the networks of a transaction': (form: Form) => returnsFields(form, 'getTransaction', ['networkFrom', 'networkTo']),
  'returns a fee': (form: Form) => returnsFields(form, 'getRate', ['fee']),
  'returns a message with a rate': (form: Form) => returnsFields(form, 'getRate', ['message']),
  'returns limits of deposits': (form: Form) => returnsFields(form, 'listCurrencies', ['depositMin', 'depositMax']),
  'returns hashes': (form: Form) => returnsFields(form, 'getTransaction', ['txHashIn', 'txHashOut']),
  'returns when a transaction changed': (form: Form) => returnsFields(form, 'getTransaction', ['updatedAt']),
  'returns all fields in a list': (form: Form) =>
    // What can be done about a swap now is asked of one.
    returnsFields(
      form,
      'listTransactions',
      [...form.capabilities.responseFields.getTransaction].filter((field) => field !== 'capabilities'),
    ),
  'returns the newest first': (form: Form) => ok(form.capabilities.newestFirst),
} as const

function requestsFields({ capabilities: vocabulary }: Form, operations: readonly Op[], fields: readonly string[]): void {
  for (const op of operations)
    for (const field of fields) ok(vocabulary.requestFields[op].has(field), `${op} cannot request ${field}`)
}

function returnsFields({ capabilities: vocabulary }: Form, op: Op, fields: readonly string[]): void {
  for (const field of fields) ok(vocabulary.responseFields[op].has(field), `${op} cannot return ${field}`)
}
