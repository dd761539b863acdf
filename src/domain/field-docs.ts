/** A description of every field of the model, for integrators. */
import type { AnswerItem, Question, Questions } from './question.ts'
import type { Op, Request, Row } from './service.ts'
import type { CurrencyNetwork } from './swap.ts'

/** No client gets them. */
type Internal = 'ownAssets' | 'reference' | 'hasDeposit' | 'hasActions'
type FieldsOf<T> = T extends unknown ? keyof T : never
type OfQuestion =
  | { [Q in Question]: keyof Questions[Q]['request'] | keyof Questions[Q]['response'] }[Question]
  | FieldsOf<AnswerItem>
type Field = Exclude<{ [O in Op]: keyof Request<O> | keyof Row<O> }[Op] | keyof CurrencyNetwork | OfQuestion, Internal>

const fieldDocs: Readonly<Record<Field, string>> = {
  id: 'The id of the swap: the tag of its provider, `~`, and the id at the provider. It stays the same when providers are changed.',
  quoteId:
    'The id of a quote that is kept for you: one create with it, of the same swap, gets this provider at this price until its time is over.',
  quoteValidUntil: 'Until when the quote is kept, in UTC.',
  isFirm:
    '`true`: the quote is kept for one create of yours. It needs your key and `rateType=fixed`; the response has the id of the quote.',
  status: 'The status of the swap.',
  attention:
    'This swap needs the support of the provider or of your operator; absent if it does not. `failed` and `held`: the provider says that it failed, or that a check holds it; `lost`: the provider has not found it for an hour; `unknown_status`: the provider’s status is not known here. The status is the last known one. A later version may have more words.',
  statusReason: 'Why the swap does not go on, or was sent back, if the provider says so.',
  code: 'The code of the coin on its network.',
  coin: 'The ticker of the coin.',
  network: 'The network that the code stands for.',
  name: 'The full name of the coin, or of the network.',
  icon: 'The URL of an icon of the coin.',
  notes:
    'The networks of the coin, the default one first, like `Networks: TRX, ETH`; or the text of the provider. Empty if none is known.',
  networks: 'The networks of the coin.',
  withNetworks: 'Whether each coin is to have its networks.',
  isDefault: 'Whether this network is meant if a request names none.',
  contract: 'The contract of the token on its network.',
  contractFrom: 'The contract of the token that is sent.',
  contractTo: 'The contract of the token that is received.',
  shortName: 'A short name of the network, like `TRC20`.',
  decimals: 'The decimal places of an amount.',
  precision: 'The decimal places of an amount at the provider, if the network’s own are not known.',
  addressPattern: 'A regular expression that every address on this network matches. A text that matches it may still be none.',
  blockExplorer: 'A link to an explorer of the network.',
  items: 'The rows.',
  total: 'The number of rows on all pages.',
  hasMore: '',
  rowCount: '',
  dropped: '',
  unreadable: '',
  needsMemo: 'Whether an address on this network may need a memo or tag.',
  canDeposit: 'Whether the coin can be sent at any provider; left out if none says so.',
  canWithdraw: 'Whether the coin can be received at any provider; left out if none says so.',
  fixedRate: 'Whether the coin is swapped at a fixed rate at any provider; left out if none says so.',
  floatRate: '',
  coinNameFrom: 'The full name of the coin that is sent.',
  coinNameTo: 'The full name of the coin that is received.',
  depositMin: 'The minimum amount of a deposit.',
  depositMax: 'The maximum amount of a deposit.',
  codeFrom: 'The code of the coin that is sent.',
  codeTo: 'The code of the coin that is received.',
  coinFrom: 'The ticker of the coin that is sent.',
  coinTo: 'The ticker of the coin that is received.',
  networkFrom: 'The network on which the coin is sent.',
  networkTo: 'The network on which the coin is received.',
  amountIn: 'The amount that is sent, in the coin that is sent.',
  amountOut: 'The amount that is received, in the coin that is received: an estimate until the swap is complete.',
  rate: 'The amount that is received for one unit of the coin that is sent.',
  minAmount: 'The minimum amount that can be sent.',
  maxAmount: 'The maximum amount that can be sent.',
  receivedMin: 'The minimum amount that can be received, in the coin that is received, if the provider says so.',
  fee: 'The fee of the swap, in the coin that is received.',
  rateType: '`fixed` or `float`.',
  message: 'A message for people. In a rate, it is null, or what the provider says instead of an amount.',
  depositAddress: 'The address to which the deposit must be sent.',
  depositExtraId: 'The memo or tag that must be sent with the deposit. A deposit without it may be lost.',
  withdrawalAddress: 'The address that receives the swapped coin.',
  withdrawalExtraId: 'The memo or tag for the withdrawal address.',
  refundAddress: 'The address to which a deposit is refunded, on the network of the coin that is sent.',
  refundExtraId: 'The memo or tag for the refund address.',
  txHashIn: 'The transaction of the deposit on its chain.',
  txHashOut: 'The transaction of the payment on its chain.',
  validUntil:
    'Until when the deposit must be sent, in UTC, if the provider says so. A later deposit may be refused, or exchanged at another rate.',
  refundHash: 'The transaction on its chain with which the deposit was sent back.',
  refundAmount: 'The amount that was sent back, in the coin that was sent.',
  supportUrl: 'A page of the provider about this swap, or where your user can do what the provider asks for.',
  capabilities:
    'What you can do about this swap now, each by a POST to this path below the swap; absent if there is nothing. A later version may have more words.',
  createdAt: 'When the swap was created, in UTC.',
  updatedAt: 'When its status last changed, in UTC.',
  address: 'The address to check.',
  extraId: 'The memo or tag for the address.',
  isValid: 'Whether the address, with the memo, is one of the network.',
  complaints: 'What is wrong, each with the field of your request; empty if the address is valid.',
  field: 'The name of the field of your request.',
  decimalsFrom: 'The decimal places of an amount that is sent. A create with more is refused.',
  decimalsTo: 'The decimal places of an amount that is received.',
  needsMemoFrom: 'Whether an address on this network may need a memo or tag: that of the deposit, and that of a refund.',
  needsMemoTo: 'Whether an address on this network may need a memo or tag: that of the withdrawal.',
  addressPatternFrom: 'A regular expression that every address on this network matches. A text that matches it may still be none.',
  addressPatternTo: 'A regular expression that every address on this network matches. A text that matches it may still be none.',
  isOffered: 'Whether the pair can be swapped.',
  isReverseOffered: 'Whether it can be swapped in the opposite direction.',
  rateTypes: 'The rate types of the pair, each with its limits.',
  rates: 'The quotes of the providers that you may choose, the best first.',
  failures: 'The providers without a quote, and why.',
  provider: 'The tag of the provider: you choose it with `X-Swap-Provider`.',
  failure: 'The cause for programs, as in `X-Swap-Reason`.',
  reason: 'The cause for programs: the reason with which a create would be refused.',
  page: 'The page number, starting at 1. A page after the last one is empty.',
  size: 'The number of rows in a page.',
  search: 'Only coins whose name or code contains this text, ignoring case.',
  dateFrom: 'Only swaps created at this time or later: an RFC 3339 timestamp with its zone, or a date (its whole day in UTC).',
  statuses: 'Only swaps with this status.',
  idSearch: 'Only the swap with this id.',
  sort: 'What the list is sorted by: its creation.',
  order: '`desc`: the newest first, as without it; `asc`: the oldest first.',
  updatedSince:
    'Only swaps whose status changed at this time or later, or which were created then: an RFC 3339 timestamp with its zone, or a date (its start in UTC).',
  event: '`pay`: it is paid; `hold`: a check holds it; `fail`: it fails; `refund`: its deposit is sent back.',
  dateTo: 'Only swaps created at this time or earlier: an RFC 3339 timestamp with its zone, or a date (its whole day in UTC).',
}

/** Fields that every response has, with any provider. Other fields are omitted if unknown. */
export const alwaysPresent: { readonly [O in Op]: readonly (keyof Row<O>)[] } & {
  readonly [Q in Question]: readonly (keyof Questions[Q]['response'] | FieldsOf<AnswerItem>)[]
} = {
  listCurrencies: ['code', 'coin', 'name', 'icon', 'notes'],
  getRate: ['codeFrom', 'codeTo', 'coinFrom', 'coinTo', 'amountIn', 'amountOut', 'rateType'],
  createTransaction: [
    ...(['id', 'status', 'codeFrom', 'codeTo', 'coinFrom', 'coinTo', 'amountIn', 'rateType'] as const),
    ...(['depositAddress', 'withdrawalAddress', 'createdAt'] as const),
  ],
  listTransactions: ['id', 'coinFrom', 'coinTo', 'amountIn', 'createdAt'],
  getTransaction: ['id', 'status', 'coinFrom', 'coinTo', 'amountIn', 'createdAt'],
  checkAddress: ['isValid', 'complaints', 'field', 'reason', 'message'],
  describePair: ['codeFrom', 'codeTo', 'coinFrom', 'coinTo', 'rateTypes', 'rateType'],
  coinNetworks: ['network', 'name', 'shortName', 'isDefault'],
  allNetworks: ['network', 'name', 'shortName', 'isDefault'],
  refundTransaction: ['id', 'status', 'coinFrom', 'coinTo', 'amountIn', 'createdAt'],
  continueTransaction: ['id', 'status', 'coinFrom', 'coinTo', 'amountIn', 'createdAt'],
  setRefundAddress: ['id', 'status', 'coinFrom', 'coinTo', 'amountIn', 'createdAt'],
  driveSandbox: ['id', 'status', 'coinFrom', 'coinTo', 'amountIn', 'createdAt'],
  listRates: ['rates', 'failures', 'provider', 'failure', 'codeFrom', 'codeTo', 'amountIn', 'amountOut', 'rateType', 'message'],
}

/** The description of a field; empty if the model has no such field. */
export function describeField(field: string): string {
  return isField(field) ? fieldDocs[field] : ''
}

/** The same where a request has it: what it asks for is not yet what is. */
export function describeRequestField(field: string): string {
  return field === 'amountOut'
    ? 'The amount that is to be received, in the coin that is received. The response says what must be sent for it.'
    : describeField(field)
}

function isField(field: string): field is Field {
  return field in fieldDocs
}
