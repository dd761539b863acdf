/** The bodies of a form as JSON Schema, from its tables. */

import { type Amount, toAmount } from '../../domain/amount.ts'
import { alwaysPresent, describeField, describeRequestField } from '../../domain/field-docs.ts'
import type { PairAnswer, Question } from '../../domain/question.ts'
import { forEachOp, namesByCode, type Op } from '../../domain/service.ts'
import { type Status, statuses } from '../../domain/status.ts'
import type { Currency, CurrencyNetwork, NewTransaction, Rate, Transaction } from '../../domain/swap.ts'
import { type AmountRefusalTable, type Form, nameOf, type OperationCodec, type QuestionCodec } from '../../wire/form.ts'
import { type ClientEnvelope, encodePage } from '../../wire/page.ts'
import type { RequestSlot } from '../../wire/request.ts'
import { type ResponseNode, type ResponseNodes, type ResponseSlot, withAmountsAsText } from '../../wire/response-nodes.ts'
import { asText, requestScalars, responseScalars, type Scalar } from '../../wire/scalar.ts'
import type { Schema } from '../../wire/schema.ts'

const statusMeaning: Readonly<Record<Status, string>> = {
  wait: 'waits for the deposit',
  confirmation: 'the deposit is being confirmed',
  confirmed: 'the deposit is confirmed',
  exchanging: 'the coins are being exchanged',
  sending: 'the payout is being sent',
  success: 'complete',
  overdue: 'no deposit arrived in time',
  refunded: 'the deposit was sent back',
}

export const rowNames: Readonly<Record<Op | Question, string>> = {
  listCurrencies: 'Currency',
  getRate: 'Rate',
  createTransaction: 'CreatedTransaction',
  listTransactions: 'ListedTransaction',
  getTransaction: 'Transaction',
  checkAddress: 'AddressCheck',
  describePair: 'Pair',
  listRates: 'Rates',
  coinNetworks: 'Network',
  allNetworks: 'Network',
  refundTransaction: 'RefundedTransaction',
  continueTransaction: 'ContinuedTransaction',
  setRefundAddress: 'RefundableTransaction',
  driveSandbox: 'DrivenTransaction',
}

/** The names of the components of bodies. */
export const bodyNames: Readonly<Partial<Record<Op | Question, string>>> = {
  createTransaction: 'NewTransaction',
  checkAddress: 'AddressToCheck',
  refundTransaction: 'Refund',
  continueTransaction: 'Continuation',
  setRefundAddress: 'RefundAddress',
  driveSandbox: 'SandboxEvent',
}

/** The name of the component of an operation's response. */
export function responseName(endpoint: OperationCodec | QuestionCodec): string {
  const row = rowNames[nameOf(endpoint)]
  return isPaged(endpoint) ? `${row}Page` : row
}

export function isPaged(endpoint: OperationCodec | QuestionCodec): boolean {
  return 'op' in endpoint ? endpoint.paged : endpoint.rows === 'page'
}

export function reference(kind: 'schemas' | 'responses' | 'headers' | 'parameters', name: string): Schema {
  return { $ref: `#/components/${kind}/${name}` }
}

/** A row of a response. Fields that are always present are required. */
export function rowSchema(endpoint: OperationCodec | QuestionCodec, { statuses: words }: Form): Schema {
  return nodesSchema(endpoint.responseCodec.nodes, alwaysPresent[nameOf(endpoint)], words)
}

function nodesSchema({ list }: ResponseNodes, known: readonly string[], words: readonly Status[]): Schema {
  const isRequired = ({ slot, below, of }: ResponseNode): boolean =>
    slot ? isAlwaysThere(slot, known) : below !== undefined && (of === undefined || known.includes(of))
  const present = list.filter(({ slot, below }) => slot || below)
  return objectSchema(
    Object.fromEntries(present.map((node) => [node.name, nodeSchema(node, known, words)])),
    present.filter(isRequired).map(({ name }) => name),
  )
}

function isAlwaysThere({ absence, field, when }: ResponseSlot, known: readonly string[]): boolean {
  return absence === 'null' || (known.includes(field) && absence !== 'extension' && when === undefined)
}

/** A value, an object, or a list of objects. */
function nodeSchema({ slot, below, of }: ResponseNode, known: readonly string[], words: readonly Status[]): Schema {
  if (slot) return valueSchema(slot, words)
  const object = below ? nodesSchema(below, known, words) : {}
  return of === undefined ? object : { type: 'array', items: object, description: describeField(of) }
}

/** Open: a later version may add members (docs/compatibility.md). */
function objectSchema(properties: Readonly<Record<string, Schema>>, required = Object.keys(properties)): Schema {
  return { type: 'object', required, properties }
}

function valueSchema({ field, absence, scalar }: ResponseSlot, words: readonly Status[]): Schema {
  const description = describeField(field)
  if (field === 'status') return { type: 'string', enum: words, description: `${description} ${statusWords(words)}` }
  const { type, ...more } = scalar.schema
  return { type: absence === 'null' ? [type, 'null'] : type, ...more, description }
}

/** Each status of a form with its meaning. */
export function statusWords(words: readonly Status[]): string {
  const described = statuses.filter((status) => words.includes(status)).map((status) => `\`${status}\`: ${statusMeaning[status]}`)
  return `${described.join('; ')}.`
}

/** A page of rows with this component name. */
export function pageSchema(envelope: ClientEnvelope, row: string): Schema {
  const pageNumbers = {
    page: { ...requestScalars.page.schema, description: 'The number of this page.' },
    size: { ...requestScalars.size.schema, description: 'The number of rows per page.' },
    total: { ...responseScalars.count.schema, description: 'The number of rows on all pages.' },
  }
  const place = (position: ClientEnvelope[string]): Schema => {
    if (typeof position !== 'string') return pageSchema(position, row)
    return position === 'items' ? { type: 'array', items: reference('schemas', row) } : pageNumbers[position]
  }
  return objectSchema(Object.fromEntries(Object.entries(envelope).map(([name, position]) => [name, place(position)])))
}

/** The body of a request. An unlisted field is rejected. */
export function bodySchema(endpoint: OperationCodec | QuestionCodec, { keyMember, credential }: Form): Schema {
  const slots = endpoint.requestCodec.slots.filter(({ place }) => place === 'body')
  const name = nameOf(endpoint)
  const isRequired = ({ absence, defaultValue }: RequestSlot): boolean => absence === 'required' && defaultValue === undefined
  const properties = Object.fromEntries(slots.map((slot) => [slot.name, requestFieldSchema(name, slot, slots)]))
  const required = slots.filter(isRequired).map((slot) => slot.name)
  const key = { type: ['string', 'null'], description: `Your key, if it is not in \`${credential.name}\`.` }
  const withKey = keyMember === undefined ? properties : { ...properties, [keyMember]: key }
  const alternatives = slots.filter(({ isOneOf }) => isOneOf).map((slot) => ({ required: [slot.name] }))
  const mayBeBoth = slots.some(({ countsIfEqual }) => countsIfEqual)
  return {
    ...objectSchema(withKey, required),
    ...(alternatives.length > 0 && { [mayBeBoth ? 'anyOf' : 'oneOf']: alternatives }),
    additionalProperties: false,
  }
}

const positive = '^(?=[^eE]*[1-9])(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$'

/** A number, or a text of it with the same digits. */
const amountSchema = { ...requestScalars.amount.schema, type: ['number', 'string'], pattern: positive }

/** Of a parameter or a member of the body. */
export function requestSchema({ scalar }: RequestSlot): Schema {
  return scalar === requestScalars.amount ? amountSchema : scalar.schema
}

const amountText = { ...asText(requestScalars.amount as Scalar<unknown>), schema: { type: 'string', pattern: positive } }

/** The form as clients meet it that send `Prefer: amounts=text`: to describe it. */
export function withAmountTexts(form: Form): Form {
  const inTexts = <Codec extends OperationCodec | QuestionCodec>(codec: Codec): Codec => {
    const { requestCodec, responseCodec } = codec
    const slots = requestCodec.slots.map((slot) => (slot.scalar === requestScalars.amount ? { ...slot, scalar: amountText } : slot))
    const { nodes, encodeAmountsAsText: encode } = responseCodec
    return {
      ...codec,
      requestCodec: { ...requestCodec, slots },
      responseCodec: { ...responseCodec, nodes: withAmountsAsText(nodes), encode },
    }
  }
  return { ...form, operations: forEachOp((op) => inTexts(form.operations[op])), questions: form.questions.map(inTexts) }
}

/** A default is words: generators of types make a member with `default` one that must be there. */
export function describeSlot({ name, field, defaultValue, isOneOf }: RequestSlot, slots: readonly RequestSlot[]): string {
  const others = slots.filter((slot) => isOneOf && slot.isOneOf && slot.name !== name).map((slot) => `\`${slot.name}\``)
  const counted = slots.find(({ countsIfEqual }) => countsIfEqual)
  const notBoth = counted ? `; of two equal amounts \`${counted.name}\` counts` : ', not both'
  const alternative = others.length === 0 ? '' : ` Either this or ${others.join(', ')} must be sent${notBoth}.`
  return describeRequestField(field) + alternative + (defaultValue === undefined ? '' : ` Default: \`${defaultValue}\`.`)
}

function requestFieldSchema(endpoint: Op | Question, slot: RequestSlot, slots: readonly RequestSlot[]): Schema {
  const { type, ...more } = requestSchema(slot)
  const example = requestExample(endpoint, slot)
  return {
    type: slot.absence === 'extension' ? [type, 'null'] : type,
    ...more,
    description:
      describeSlot(slot, slots) +
      (slot.isAbsentIfEmpty && slot.absence !== 'required' ? ' `null` and an empty text mean none.' : ''),
    ...(example !== undefined && { examples: [example] }),
  }
}

export const amountRefusalName = 'AmountRefusal'

/** The body of a refused amount, in forms that have one. */
export function amountRefusalSchema({ body }: AmountRefusalTable, amount: Schema): Schema {
  const parts = {
    amountIn: { ...amount, description: describeField('amountIn') },
    zero: { const: 0, description: 'Always 0.' },
    message: { type: 'string', description: 'The cause and what to do, for people.' },
    minAmount: { ...amount, description: describeField('minAmount') },
    maxAmount: { ...amount, description: describeField('maxAmount') },
    receivedMin: { ...amount, description: describeField('receivedMin') },
  }
  const limits: readonly string[] = ['minAmount', 'maxAmount', 'receivedMin']
  const isKnown = (part: keyof typeof parts): boolean => !limits.includes(part)
  return objectSchema(
    Object.fromEntries(Object.entries(body).map(([name, part]) => [name, parts[part]])),
    Object.entries(body).flatMap(([name, part]) => (isKnown(part) ? [name] : [])),
  )
}

export function errorSchema({ error, amountRefusal, operations }: Form, amount: Schema): Schema {
  const parts = {
    reason: { type: 'string', description: 'The name of the status, for example `Bad Request`.' },
    message: {
      type: 'string',
      description: 'The cause and what to do, for people. Never contains a secret, a host or a name of a provider.',
    },
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status.' },
    byField: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'The part of the message that is about each parameter, by its name as you sent it.',
    },
  }
  const own = Object.fromEntries(Object.entries(error).map(([name, part]) => [name, parts[part]]))
  if (amountRefusal) return objectSchema(own)
  const limit = (which: string): Schema => ({
    ...amount,
    description: `With \`below_minimum\` and \`above_maximum\`: the ${which} of the pair, where it is known.`,
  })
  const support = operations.getTransaction.responseNames.get('supportUrl')
  const more = {
    minAmount: limit('minimum'),
    maxAmount: limit('maximum'),
    ...(support !== undefined && {
      [support]: {
        ...responseScalars.supportUrl.schema,
        description: 'With `not_offered` for an action on a swap: a page of the provider about it, where there is one.',
      },
    }),
    errors: parameterErrors,
  }
  return objectSchema({ ...own, ...more }, Object.keys(own))
}

const parameterErrors = {
  type: 'array',
  minItems: 1,
  description:
    'What is wrong with each parameter, for programs: all mistakes of a request at once, the first of which is the reason of the response.',
  items: objectSchema({
    field: { type: 'string', description: 'The name of the parameter as you sent it; empty for the request as a whole.' },
    reason: { type: 'string', description: 'As in `X-Swap-Reason`. A later version may have more reasons.' },
    message: { type: 'string', description: 'The part of the message that is about it.' },
  }),
}

// One swap as an example, encoded by the form's own codecs: the examples are exact.

function amount(text: string): Amount {
  const value = toAmount(text)
  if (value === undefined) throw new Error(`${text} is no amount.`)
  return value
}

const pair = { codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' }

const rate: Rate = {
  ...pair,
  amountIn: amount('0.10'),
  amountOut: amount('9425.243471'),
  rate: amount('94262.43724'),
  minAmount: amount('0.0002'),
  maxAmount: amount('0.527'),
  fee: amount('1.000253'),
  rateType: 'float',
}

const newTransaction: NewTransaction = {
  ...pair,
  amountIn: rate.amountIn,
  withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
  rateType: 'float',
}

const created: Transaction = {
  ...newTransaction,
  id: 'alpha~1fc8a276-0d22-4969-ac54-d77f2fb69967',
  status: 'wait',
  amountOut: amount('9425.243471'),
  rate: amount('94262.43724'),
  depositAddress: 'bc1qt5zj4n8l5nr3vy7mpf0vv4fn35er06sgwpcawg',
  createdAt: '2026-11-20T10:24:10.926Z',
  updatedAt: '2026-11-20T10:24:10.926Z',
}

const complete: Transaction = { ...created, status: 'success', updatedAt: '2026-11-20T10:24:19.127Z' }

const coin = { coin: 'USDT', name: 'Tether', icon: 'https://icons.example/usdt.svg', notes: 'Networks: TRX, ETH, BSC' }
const codes: readonly Currency[] = [
  { ...coin, code: 'USDTTRC20', network: 'TRX', depositMin: amount('10'), depositMax: amount('100000') },
  { ...coin, code: 'USDTERC20', network: 'ETH' },
  { ...coin, code: 'USDTBEP20', network: 'BSC' },
]

const addressAnswer = {
  isValid: false,
  complaints: [
    { field: 'address', reason: 'address_invalid', message: 'Invalid address: it is no address of USDT on the network TRX.' },
  ],
}

const pairAnswer: PairAnswer = {
  ...pair,
  decimalsFrom: 8,
  decimalsTo: 6,
  needsMemoFrom: false,
  needsMemoTo: false,
  addressPatternFrom: '^(?:[13][1-9A-HJ-NP-Za-km-z]{25,34}|bc1[02-9ac-hj-np-z]{6,}|BC1[02-9AC-HJ-NP-Z]{6,})$',
  addressPatternTo: '^(?:T[1-9A-HJ-NP-Za-km-z]{33})$',
  isOffered: true,
  isReverseOffered: true,
  rateTypes: [
    { rateType: 'float', minAmount: amount('0.0002'), maxAmount: amount('0.527') },
    { rateType: 'fixed', minAmount: amount('0.0002'), maxAmount: amount('0.527') },
  ],
}

const networkAnswer: CurrencyNetwork = {
  network: 'TRX',
  name: 'TRON',
  shortName: 'TRC20',
  isDefault: true,
  needsMemo: false,
  decimals: 6,
  precision: 6,
  addressPattern: pairAnswer.addressPatternTo,
}

const ratesAnswer = {
  rates: [
    { provider: 'beta', ...rate },
    { provider: 'alpha', ...rate, amountOut: amount('9402.171001') },
  ],
  failures: [
    {
      provider: 'gamma',
      failure: 'provider_busy',
      message: 'The service is not available at the moment; please wait as long as Retry-After says.',
    },
  ],
}

const refundable: Transaction = { ...created, status: 'exchanging' }

const responses = {
  checkAddress: addressAnswer,
  describePair: pairAnswer,
  listRates: ratesAnswer,
  coinNetworks: networkAnswer,
  allNetworks: networkAnswer,
  getRate: rate,
  createTransaction: created,
  listTransactions: complete,
  getTransaction: complete,
  refundTransaction: refundable,
  continueTransaction: refundable,
  setRefundAddress: refundable,
  driveSandbox: { ...created, status: 'confirmation' } as const,
}

const requests: Readonly<Record<Op | Question, Readonly<Record<string, unknown>>>> = {
  listCurrencies: { search: 'tether' },
  getRate: { ...pair, amountIn: newTransaction.amountIn },
  createTransaction: { ...newTransaction },
  listTransactions: {},
  getTransaction: { id: created.id },
  checkAddress: {
    code: pair.codeTo,
    coin: pair.coinTo,
    network: pair.networkTo,
    address: '0x52908400098527886E0F7030069857D2E4169EE7',
  },
  describePair: { ...pair },
  coinNetworks: { coin: pair.coinTo },
  allNetworks: { search: 'tron' },
  listRates: { ...pair, amountIn: newTransaction.amountIn },
  refundTransaction: { id: created.id, refundAddress: newTransaction.refundAddress },
  continueTransaction: { id: created.id },
  setRefundAddress: { id: created.id, refundAddress: newTransaction.refundAddress },
  driveSandbox: { id: created.id, event: 'pay' },
}

/** An example of a response; amounts keep their digits. */
export function responseExample(endpoint: OperationCodec | QuestionCodec, { page, capabilities }: Form): unknown {
  const { responseCodec, requestCodec } = endpoint
  const name = nameOf(endpoint)
  const rows: readonly object[] =
    name === 'listCurrencies' ? (namesByCode(capabilities) ? codes : codes.slice(0, 1)) : [responses[name]]
  const encoded = rows.map((row) => responseCodec.encode(row, new Set()))
  if (!('op' in endpoint) && endpoint.rows === 'list') return parseExact(`[${encoded.join()}]`)
  if (!isPaged(endpoint)) return parseExact(encoded.join())
  const size = Number(requestCodec.slots.find(({ field }) => field === 'size')?.defaultValue ?? encoded.length)
  return parseExact(encodePage(page, encoded, { page: 1, size, total: encoded.length }))
}

/** An example of a request field; amounts keep their digits. Undefined if there is none. */
export function requestExample(endpoint: Op | Question, { field, scalar }: RequestSlot): unknown {
  const value = requests[endpoint][field]
  return value === undefined ? undefined : parseExact(scalar.toJson(value))
}

// JSON that keeps the digits of numbers: `0.10` is printed as `0.10`.

/** TypeScript does not yet declare these members. */
declare global {
  interface JSON {
    readonly rawJSON: (lexeme: string) => unknown
    parse(text: string, revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  }
}

export function parseExact(text: string): unknown {
  return JSON.parse(text, (_, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source ?? String(value)) : value))
}
