/** Addresses and memos that the network of their asset cannot have go no further (docs/contract.md §3.6). */
import { isAddress, isMemo } from '../domain/address/rule.ts'
import { memoOf } from '../domain/address/same-address.ts'
import { type Asset, type AssetTable, isOn } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import type { NewTransaction, Pair } from '../domain/swap.ts'
import { type Layer, on } from './layer.ts'
import type { Words } from './naming.ts'
import { from, to, wordsOf } from './pair.ts'

export interface AddressOptions {
  readonly table: AssetTable
  /** False: the provider alone judges addresses. */
  readonly isChecked: boolean
  readonly observe: Observer
}

interface Place {
  readonly asset: Asset | undefined
  readonly address: 'withdrawalAddress' | 'refundAddress'
  readonly memo: 'withdrawalExtraId' | 'refundExtraId'
}

/** Stands where the assets are known, before anything goes up or an `Idempotency-Key` is used. */
export function addresses(options: AddressOptions): Layer {
  return on({
    async createTransaction(request, context, next) {
      for (const place of placesOf(context.pair ?? {}, options.table)) check(request, place, options)
      return next.call('createTransaction', request, context)
    },
  })
}

function placesOf(pair: Pair, table: AssetTable): readonly Place[] {
  return [
    { asset: assetOf(wordsOf(pair, to), table), address: 'withdrawalAddress', memo: 'withdrawalExtraId' },
    { asset: assetOf(wordsOf(pair, from), table), address: 'refundAddress', memo: 'refundExtraId' },
  ]
}

/** Undefined where the table has not this coin on this network: then it has no rules for it. */
function assetOf({ code, network }: Words, table: AssetTable): Asset | undefined {
  const asset = code === undefined ? undefined : table.byCode(code)
  return asset && network !== undefined && isOn(asset, network) ? asset : undefined
}

function check(request: NewTransaction, { asset, address, memo }: Place, { isChecked, observe }: AddressOptions): void {
  const [place, extraId] = [request[address], request[memo]]
  if (asset?.address && isChecked && place && !isAddress(place, asset.address)) {
    observe({ what: 'addressRefused', network: asset.network })
    throw refused(address, 'address_invalid', `it is no address of ${asset.coin} on the network ${asset.network}`)
  }
  if (extraId === undefined) return
  if (asset?.memo && !isMemo(extraId, asset.memo)) throw refused(memo, 'memo_invalid', memoMessage(asset))
  if (memoOf(place, undefined) !== undefined && memoOf(place, undefined) !== extraId) {
    throw refused(memo, 'memo_invalid', 'it is another tag than the one in the address')
  }
}

function memoMessage({ coin, network, memo }: Asset): string {
  return memo === 'none'
    ? `${coin} on the network ${network} has no memo or tag: leave it out`
    : `it is no memo or tag of ${coin} on the network ${network}`
}

function refused(field: string, reason: 'address_invalid' | 'memo_invalid', message: string): Fault {
  return new Fault('invalid', message, { field, certain: true, reason })
}
