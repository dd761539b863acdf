/** Refuses addresses and memos that are invalid on the network of their asset (docs/contract.md §3.6). */
import { isAddress, isAddressText, isMemo, isMemoText, maxMemoLength } from '../../domain/address/rule.ts'
import { splitAddress, takesNoMemo } from '../../domain/address/same-address.ts'
import { type Amount, divide, isZero, multiplySubtract, roundDown, stepUp, zero } from '../../domain/amount.ts'
import type { Asset, AssetTable } from '../../domain/asset.ts'
import { promisedAmounts } from '../../domain/call-options.ts'
import { valueIn, withValue } from '../../domain/context-values.ts'
import { Fault, joinedFaults } from '../../domain/fault.ts'
import type { AddressQuestion, Answer, Complaint } from '../../domain/question.ts'
import { type NewTransaction, type Pair, requestedAmountOf, withRequestedAmount } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { from, pickAssetFields, type Side, to } from './asset-naming.ts'
import { lastPlaceBelow, type NetworkRules, ownerlessComplaint, rulesInTable, rulesOf } from './network-rules.ts'
import { hintForCode, hintForCoin, unknownAsset, unknownNetwork } from './translate-assets.ts'

interface AddressFields {
  readonly rules: NetworkRules | undefined
  readonly address: 'withdrawalAddress' | 'refundAddress'
  readonly memo: 'withdrawalExtraId' | 'refundExtraId'
}

/**
 * Throws `invalid` (`address_invalid`, `memo_invalid`). Needs `context.pair`, and runs before anything is sent or an
 * `Idempotency-Key` is used.
 */
export function checkAddresses(scope: ProviderScope): Layer {
  const { naming } = scope.currencyList
  return onOperations({
    async createTransaction(request, context, next) {
      const { pair = {} } = context
      const fields = addressFieldsOf((side) => rulesOf(pair, side, naming))
      const faults = fields.flatMap((each) => faultOf(request, each, scope) ?? [])
      if (faults.length > 0) throw joinedFaults(faults)
      return next.call('createTransaction', request, context)
    },
  })
}

/** Throws `invalid` for an address and memo of a refund that a create could not have. `pair`: the table's names. */
export function checkRefundAddress(request: RefundAddress, pair: Pair, scope: ProviderScope): void {
  if (request.refundExtraId !== undefined && scope.configured.extraIds === false)
    throw invalidField('refundExtraId', 'memo_invalid', memosRefused)
  const rules = rulesOf(pair, from, scope.currencyList.naming)
  const fields = { rules, address: 'refundAddress', memo: 'refundExtraId' } as const
  const fault = faultOf(request, fields, scope)
  if (fault) throw fault
}

export type RefundAddress = Pick<NewTransaction, 'refundAddress' | 'refundExtraId'>

function addressFieldsOf(rulesOfSide: (side: Side) => NetworkRules | undefined): readonly AddressFields[] {
  return [
    { rules: rulesOfSide(to), address: 'withdrawalAddress', memo: 'withdrawalExtraId' },
    { rules: rulesOfSide(from), address: 'refundAddress', memo: 'refundExtraId' },
  ]
}

function faultOf(
  request: Partial<NewTransaction>,
  { rules, address, memo }: AddressFields,
  { configured, observe, table }: ProviderScope,
): Fault | undefined {
  const isChecked = configured.addresses === 'checked'
  const [value, extraId] = [request[address], request[memo]]
  const complaint = rules && isChecked && value ? addressComplaint(value, rules, table) : undefined
  if (rules && complaint !== undefined) {
    observe({ what: 'addressRefused', network: rules.network })
    return invalidField(address, 'address_invalid', complaint)
  }
  const aboutMemo = memoComplaint(value, extraId, rules)
  return aboutMemo === undefined ? undefined : invalidField(memo, 'memo_invalid', aboutMemo)
}

function memoComplaint(
  address: string | undefined,
  extraId: string | undefined,
  rules: NetworkRules | undefined,
): string | undefined {
  if (extraId === undefined) return undefined
  if (rules?.memo && !isMemo(extraId, rules.memo)) return memoMessage(rules)
  if (address === undefined) return undefined
  if (splitAddress(address)) return 'the address holds a memo or tag of its own: leave this one out'
  return takesNoMemo(address) ? 'no transaction to this address carries a memo: leave it out' : undefined
}

function addressComplaint(value: string, rules: NetworkRules, table: AssetTable): string | undefined {
  const { address, coin, network } = rules
  if (address && !isAddress(value, address)) return `it is no address of ${coin} on the network ${network}`
  return ownerlessComplaint(value, rules, table)
}

function memoMessage({ coin, network, memo }: NetworkRules): string {
  return memo === 'none'
    ? `${coin} on the network ${network} has no memo or tag: leave it out`
    : `it is no memo or tag of ${coin} on the network ${network}`
}

function invalidField(field: string, reason: 'address_invalid' | 'memo_invalid', message: string): Fault {
  return new Fault('invalid', message, { field, effect: 'nothingSent', reason, refusal: 'forEveryProvider' })
}

// Refuses or rounds amounts that the network cannot carry (docs/contract.md §3).

/**
 * Throws `invalid` for a create whose amount has more significant decimals, or digits, than its asset in the table, or sends the amount
 * below and names it as derived; with a firm quote the amount is that of the quote. Needs `context.pair`. Quotes pass.
 */
export function checkAmount({ routing, currencyList }: ProviderScope): Layer {
  const isRounded = routing.roundAmounts === 'down'
  return onOperations({
    async createTransaction(request, context, next) {
      const field = request.amountOut === undefined ? 'amountIn' : 'amountOut'
      const amount = requestedAmountOf(request)
      const rules = rulesOf(context.pair ?? {}, field === 'amountIn' ? from : to, currencyList.naming)
      const place = rules && lastPlaceBelow(amount, rules)
      if (!rules || place === undefined) return next.call('createTransaction', request, context)
      const lower = roundDown(amount, place) ?? amount
      if (!isRounded || isZero(lower) || request.quoteId !== undefined) throw tooManyDigits(field, lower, place, rules)
      const share = (quoted: Amount | undefined) => proportional(quoted, lower, amount)
      const { quotedAmount, worstAmount } = valueIn(context, promisedAmounts)
      const promised = { quotedAmount: share(quotedAmount), worstAmount: share(worstAmount) }
      const rounded = withValue(context, promisedAmounts, promised)
      const response = await next.call('createTransaction', withRequestedAmount(request, lower), rounded)
      return { ...response, derived: [...new Set([...(response.derived ?? []), field])] }
    },
  })
}

/** The share of a quote for `requested` that an amount below it has. */
function proportional(quoted: Amount | undefined, amount: Amount, requested: Amount): Amount | undefined {
  return quoted && divide(multiplySubtract(quoted, amount, zero), requested)
}

function tooManyDigits(
  field: 'amountIn' | 'amountOut',
  lower: Amount,
  place: number,
  { coin, network, decimals, digits }: NetworkRules,
): Fault {
  const nearest = [...(isZero(lower) ? [] : [lower]), stepUp(lower, place)].join(' or ')
  const limit = place === decimals ? `${decimals} decimals` : `${digits} significant digits`
  return new Fault('invalid', `${coin} on the network ${network} has ${limit}: send ${nearest}`, {
    reason: 'parameter_invalid',
    field,
    effect: 'nothingSent',
    refusal: 'forEveryProvider',
  })
}

/** A memo is never required: only its recipient knows whether there is one. A create without it, where its network has memos, gets a warning. */
export function recommendMemos(table: AssetTable): Layer {
  return onOperations({
    async createTransaction(request, context, next) {
      const response = await next.call('createTransaction', request, context)
      const named = { ...response.body, ...pickAssetFields(request) }
      const lacksMemo = addressFieldsOf((side) => rulesInTable(named, side, table)).some((fields) => mayLackMemo(request, fields))
      return lacksMemo ? { ...response, warning: 'memo_recommended' } : response
    },
  })
}

function mayLackMemo(request: NewTransaction, { rules, address, memo }: AddressFields): boolean {
  return rules !== undefined && isMemoAdvised(rules, request[address], request[memo])
}

function isMemoAdvised({ memo = 'none' }: NetworkRules, address: string | undefined, extraId: string | undefined): boolean {
  return memo !== 'none' && address !== undefined && extraId === undefined && !splitAddress(address) && !takesNoMemo(address)
}

const memosRefused = 'extra ids are not supported here, and one that is lost loses the funds'

/** Throws `memo_invalid` for a memo or tag that the provider does not support: a lost memo loses the funds (docs/contract.md §3.5). */
export function refuseExtraIds({ configured }: ProviderScope): Layer {
  return onOperations({
    async createTransaction(request, context, next) {
      const field = (['withdrawalExtraId', 'refundExtraId'] as const).find((name) => request[name] !== undefined)
      if (field !== undefined && configured.extraIds === false) {
        throw new Fault('invalid', memosRefused, { field, effect: 'nothingSent', reason: 'memo_invalid' })
      }
      return next.call('createTransaction', request, context)
    },
  })
}

// The same rules for a client that asks before it creates (docs/contract.md §3.6). Nothing is sent.

/**
 * Says what is wrong with an address and a memo, for new swaps at any of these providers: a rule that each of them has switched off
 * does not count. Throws `invalid` for an asset that the table lacks, since nothing is known of its addresses.
 */
export function checkAddress(
  table: AssetTable,
  scopes: readonly ProviderScope[],
): (question: AddressQuestion) => Promise<Answer<'checkAddress'>> {
  const isChecked = scopes.length === 0 || scopes.some(({ configured }) => configured.addresses === 'checked')
  const takesMemos = scopes.length === 0 || scopes.some(({ configured }) => configured.extraIds !== false)
  return async (question) => {
    const { address, extraId } = question
    const asset = assetOf(question, table)
    const aboutAddress = textComplaint(address) ?? (isChecked ? addressComplaint(address, asset, table) : undefined)
    const aboutMemo = extraId === undefined ? undefined : memoComplaintOf(address, extraId, asset, takesMemos)
    const complaints: readonly Complaint[] = [
      ...(aboutAddress === undefined ? [] : [{ field: 'address', reason: 'address_invalid', message: aboutAddress } as const]),
      ...(aboutMemo === undefined ? [] : [{ field: 'extraId', reason: 'memo_invalid', message: aboutMemo } as const]),
    ]
    const isValid = complaints.length === 0
    const isAdvised = isValid && isMemoAdvised(asset, address, extraId)
    return { body: { isValid, complaints }, ...(isAdvised && { warning: 'memo_recommended' }) }
  }
}

function textComplaint(address: string): string | undefined {
  return isAddressText(address) ? undefined : 'it must be an address of 1 to 256 ASCII characters without spaces'
}

function memoComplaintOf(address: string, extraId: string, asset: Asset, takesMemos: boolean): string | undefined {
  if (!isMemoText(extraId)) return `it must be a text of at most ${maxMemoLength} characters without control characters`
  if (!takesMemos) return memosRefused
  return memoComplaint(isAddressText(address) ? address : undefined, extraId, asset)
}

function assetOf({ code, coin = '', network = '' }: AddressQuestion, table: AssetTable): Asset {
  const [field, name] = code === undefined ? (['coin', coin] as const) : (['code', code] as const)
  const asset = code === undefined ? table.find(coin, network) : table.byCode(code)
  if (asset) return asset
  const known = code === undefined ? table.coin(coin) : undefined
  if (known) {
    const networks = known.assets.map((each) => each.network)
    throw unknownNetwork('network', networks, 'network_unknown')
  }
  const hint = field === 'code' ? hintForCode(name, table) : hintForCoin(name, 'network', table)
  throw unknownAsset(field, name, hint, 'whose addresses are known here')
}
