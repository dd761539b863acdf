/** Refuses addresses and memos that are invalid on the network of their asset (docs/contract.md §3.6). */
import { type OwnerlessKind, ownerlessKind } from '../../domain/address/formats.ts'
import { isAddress, isAddressText, isMemo, isMemoText } from '../../domain/address/rule.ts'
import { splitAddress } from '../../domain/address/same-address.ts'
import { type Amount, divide, isZero, multiplySubtract, roundDown, stepUp, zero } from '../../domain/amount.ts'
import type { Asset, AssetTable } from '../../domain/asset.ts'
import { Fault, joinedFaults } from '../../domain/fault.ts'
import type { AddressQuestion, Answer, Complaint } from '../../domain/question.ts'
import { type NewTransaction, type Pair, requestedAmountOf, withRequestedAmount } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { assetIn, from, to } from './asset-naming.ts'
import { hintForCode, hintForCoin, unknownAsset, unknownNetwork } from './translate-assets.ts'

interface AddressFields {
  readonly asset: Asset | undefined
  readonly address: 'withdrawalAddress' | 'refundAddress'
  readonly memo: 'withdrawalExtraId' | 'refundExtraId'
}

/**
 * Throws `invalid` (`address_invalid`, `memo_invalid`). Needs `context.pair`, and runs before anything is sent or an
 * `Idempotency-Key` is used.
 */
export function checkAddresses(scope: ProviderScope): Layer {
  return onOperations({
    async createTransaction(request, context, next) {
      const faults = addressFieldsOf(context.pair ?? {}, scope.table).flatMap((fields) => faultOf(request, fields, scope) ?? [])
      if (faults.length > 0) throw joinedFaults(faults)
      return next.call('createTransaction', request, context)
    },
  })
}

/** Throws `invalid` for an address and memo of a refund that a create could not have. `pair`: the table's names. */
export function checkRefundAddress(request: RefundAddress, pair: Pair, scope: ProviderScope): void {
  if (request.refundExtraId !== undefined && scope.configured.extraIds === false)
    throw invalidField('refundExtraId', 'memo_invalid', memosRefused)
  const fields = { asset: assetIn(pair, from, scope.table), address: 'refundAddress', memo: 'refundExtraId' } as const
  const fault = faultOf(request, fields, scope)
  if (fault) throw fault
}

export type RefundAddress = Pick<NewTransaction, 'refundAddress' | 'refundExtraId'>

/** Without an asset of the table there are no rules to check. */
function addressFieldsOf(pair: Pair, table: AssetTable): readonly AddressFields[] {
  return [
    { asset: assetIn(pair, to, table), address: 'withdrawalAddress', memo: 'withdrawalExtraId' },
    { asset: assetIn(pair, from, table), address: 'refundAddress', memo: 'refundExtraId' },
  ]
}

function faultOf(
  request: Partial<NewTransaction>,
  { asset, address, memo }: AddressFields,
  { configured, observe }: ProviderScope,
): Fault | undefined {
  const isChecked = configured.addresses === 'checked'
  const [value, extraId] = [request[address], request[memo]]
  const complaint = asset && isChecked && value ? addressComplaint(value, asset) : undefined
  if (asset && complaint !== undefined) {
    observe({ what: 'addressRefused', network: asset.network })
    return invalidField(address, 'address_invalid', complaint)
  }
  const aboutMemo = memoComplaint(value, extraId, asset)
  return aboutMemo === undefined ? undefined : invalidField(memo, 'memo_invalid', aboutMemo)
}

function memoComplaint(address: string | undefined, extraId: string | undefined, asset: Asset | undefined): string | undefined {
  if (extraId === undefined) return undefined
  if (asset?.memo && !isMemo(extraId, asset.memo)) return memoMessage(asset)
  const holdsMemo = address !== undefined && splitAddress(address) !== undefined
  return holdsMemo ? 'the address holds a memo or tag of its own: leave this one out' : undefined
}

function addressComplaint(value: string, { address, coin, network }: Asset): string | undefined {
  if (!address) return undefined
  if (!isAddress(value, address)) return `it is no address of ${coin} on the network ${network}`
  const kind = address.format && ownerlessKind(value, address.format)
  return kind && ownerless[kind](network)
}

const ownerless: Readonly<Record<OwnerlessKind, (network: string) => string>> = {
  zero: (network) => `it is the zero address of the network ${network}, which nobody owns: what is sent to it is burned`,
  system: (network) => `it is a system address of the network ${network}, which pays nothing out`,
  burn: (network) => `it is a burn address of the network ${network}: what is sent to it is lost`,
}

function memoMessage({ coin, network, memo }: Asset): string {
  return memo === 'none'
    ? `${coin} on the network ${network} has no memo or tag: leave it out`
    : `it is no memo or tag of ${coin} on the network ${network}`
}

function invalidField(field: string, reason: 'address_invalid' | 'memo_invalid', message: string): Fault {
  return new Fault('invalid', message, { field, effect: 'nothingSent', reason, refusal: 'forEveryProvider' })
}

// Refuses or rounds amounts that the network cannot carry (docs/contract.md §3).

/**
 * Throws `invalid` for a create whose amount has more significant decimals than its asset in the table, or sends the amount below and
 * names it as derived; with a firm quote the amount is that of the quote. Needs `context.pair`. Quotes pass.
 */
export function checkAmount({ table, routing }: ProviderScope): Layer {
  const isRounded = routing.roundAmounts === 'down'
  return onOperations({
    async createTransaction(request, context, next) {
      const field = request.amountOut === undefined ? 'amountIn' : 'amountOut'
      const amount = requestedAmountOf(request)
      const asset = assetIn(context.pair ?? {}, field === 'amountIn' ? from : to, table)
      const lower = asset?.decimals === undefined ? undefined : roundDown(amount, asset.decimals)
      if (!asset || lower === undefined) return next.call('createTransaction', request, context)
      if (!isRounded || isZero(lower) || request.quoteId !== undefined) throw tooManyDecimals(field, amount, asset)
      const share = (quoted: Amount | undefined) => proportional(quoted, lower, amount)
      const rounded = { ...context, quotedAmount: share(context.quotedAmount), worstAmount: share(context.worstAmount) }
      const response = await next.call('createTransaction', withRequestedAmount(request, lower), rounded)
      return { ...response, derived: [...new Set([...(response.derived ?? []), field])] }
    },
  })
}

/** The share of a quote for `requested` that an amount below it has. */
function proportional(quoted: Amount | undefined, amount: Amount, requested: Amount): Amount | undefined {
  return quoted && divide(multiplySubtract(quoted, amount, zero), requested)
}

function tooManyDecimals(field: 'amountIn' | 'amountOut', amount: Amount, { coin, network, decimals = 0 }: Asset): Fault {
  const lower = roundDown(amount, decimals) ?? amount
  const nearest = [...(isZero(lower) ? [] : [lower]), stepUp(lower, decimals)].join(' or ')
  return new Fault('invalid', `${coin} on the network ${network} has ${decimals} decimals: send ${nearest}`, {
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
      const lacksMemo = addressFieldsOf(request, table).some((fields) => mayLackMemo(request, fields))
      return lacksMemo ? { ...response, warning: 'memo_recommended' } : response
    },
  })
}

function mayLackMemo(request: NewTransaction, { asset, address, memo }: AddressFields): boolean {
  return asset !== undefined && isMemoAdvised(asset, request[address], request[memo])
}

function isMemoAdvised({ memo = 'none' }: Asset, address: string | undefined, extraId: string | undefined): boolean {
  return memo !== 'none' && address !== undefined && extraId === undefined && !splitAddress(address)
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
    const aboutAddress = textComplaint(address) ?? (isChecked ? addressComplaint(address, asset) : undefined)
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
  if (!isMemoText(extraId)) return 'it must be a text of at most 256 characters without control characters'
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
