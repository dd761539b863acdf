/** Requests and responses that a form can carry, from its capabilities. */
import * as fc from 'fast-check'
import type { Op } from '../../src/domain/service.ts'
import { roundDown, type Status, statuses, statusReasons } from '../../src/domain/status.ts'
import type { Form } from '../../src/wire/form.ts'

export type Fields = Readonly<Record<string, unknown>>

const digits = (most: number): fc.Arbitrary<string> => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`))
const exponent = fc.oneof(
  fc.constant(''),
  fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-', 'E-'), fc.integer({ min: 0, max: 40 })).map((parts) => parts.join('')),
)

/** JSON's grammar of numbers, above 0. */
const positiveAmount = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.option(digits(24), { nil: undefined }), exponent)
  .map(([whole, fraction, power]) => `${whole}${fraction === undefined ? '' : `.${fraction}`}${power}`)
  .filter((lexeme) => /[1-9]/.test(lexeme.split(/e/i)[0] ?? ''))

/** Text in which every sort of trouble comes: quotes, escapes, percent signs, letters of two code units. */
const text = fc.string({
  unit: fc.constantFrom('a', 'Z', '0', ' ', '"', '\\', '/', '%', '&', '=', '+', '#', '\n', 'é', '漢', '𝒳', '\u2028'),
  minLength: 1,
  maxLength: 12,
})
const word = fc.string({
  unit: fc.constantFrom('a', 'Z', '0', '-', '.', '_', '~', '/', '%', '+', '"', '\\'),
  minLength: 1,
  maxLength: 20,
})
const line = text.filter((value) => !/\p{Cc}/u.test(value))
const instant = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') }).map((date) => date.toISOString())

const special: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  page: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  size: fc.integer({ min: 1, max: 100 }),
  amountIn: positiveAmount,
  rateType: fc.constantFrom('fixed', 'float'),
  isFirm: fc.constant(false), // a firm quote may be refused: `test/golden`
  dateFrom: fc.oneof(instant, fc.constant('2026-07-01T00:00:00.5+05:30'), fc.constant('2026-02-28')),
  dateTo: fc.oneof(instant, fc.constant('2026-07-01t00:00:00z'), fc.constant('2028-02-29')),
  updatedSince: fc.oneof(instant, fc.constant('2026-02-28')),
  withdrawalAddress: word,
  refundAddress: word,
  depositExtraId: line,
  withdrawalExtraId: line,
  refundExtraId: line,
  id: line,
}

/** Any amount that a response may have: also zero, and less than zero. */
const amount = fc.oneof(
  positiveAmount,
  positiveAmount.map((lexeme) => `-${lexeme}`),
  fc.constantFrom('0', '0.00', '-0', '0e40'),
)
const amounts = ['amountIn', 'amountOut', 'rate', 'fee', 'minAmount', 'maxAmount', 'depositMin', 'depositMax']
const responseFields: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ...special,
  ...Object.fromEntries(amounts.map((field) => [field, amount])),
  canDeposit: fc.boolean(),
  canWithdraw: fc.boolean(),
  fixedRate: fc.boolean(),
  refundAmount: positiveAmount,
  validUntil: instant,
  quoteValidUntil: instant,
  statusReason: fc.constantFrom(...statusReasons),
  supportUrl: fc.constantFrom('https://swap.example/t/1?a=b&c=%20', 'https://swap.example'),
  maxAmount: positiveAmount.filter((lexeme) => Number(lexeme) < 1e41), // others mean that there is none
}

/** Fields that are always in a request; the others are optional. */
const always: ReadonlySet<string> = new Set([
  'page',
  'size',
  'amountIn',
  'rateType',
  'withdrawalAddress',
  'id',
  'codeFrom',
  'codeTo',
  'coinFrom',
  'coinTo',
])

export function requestOf(form: Form, op: Op): fc.Arbitrary<Fields> {
  const isAlways = (field: string): boolean => always.has(field) || (op === 'createTransaction' && field.startsWith('network'))
  const notation = (field: string): fc.Arbitrary<unknown> => (field === 'statuses' ? statusesOf(form) : (special[field] ?? text))
  // A provider takes an amount to receive only if its configuration says so: `test/forms/received-amounts`.
  const fields = new Set([...form.capabilities.requestFields[op]].filter((field) => field !== 'amountOut'))
  return record(fields, isAlways, notation)
}

/** What one word of the form stands for. */
function statusesOf(form: Form): fc.Arbitrary<readonly Status[]> {
  const shown = new Set(form.statuses)
  return fc.constantFrom(...form.statuses).map((word) => statuses.filter((status) => roundDown(status, shown) === word))
}

/** A response, or a row of one, in which the fields named in `absent` may be absent. */
export function responseOf(form: Form, op: Op, statuses: readonly Status[], absent: readonly string[]): fc.Arbitrary<Fields> {
  const notation = (field: string): fc.Arbitrary<unknown> =>
    field === 'status' ? fc.constantFrom(...statuses) : (responseFields[field] ?? text)
  const read = form.operations[op].responseCodec.slots.filter(({ isForClients }) => !isForClients).map(({ field }) => field)
  return record(new Set(read), (field) => !absent.includes(field), notation)
}

function record(
  fields: ReadonlySet<string>,
  isAlways: (field: string) => boolean,
  notation: (field: string) => fc.Arbitrary<unknown>,
): fc.Arbitrary<Fields> {
  const model = Object.fromEntries([...fields].map((field) => [field, notation(field)]))
  return fc.record(model, { requiredKeys: [...fields].filter(isAlways), noNullPrototype: true })
}
