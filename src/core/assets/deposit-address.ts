/** Deposit addresses that a provider reports: nobody is told to pay to what cannot be one (docs/contract.md §3.6). */
import { type FormatName, ownerlessKind } from '../../domain/address/formats.ts'
import { type AddressRule, isAddress } from '../../domain/address/rule.ts'
import { isSamePlace } from '../../domain/address/same-address.ts'
import type { Asset } from '../../domain/asset.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { Transaction } from '../../domain/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'
import { assetFromResponse } from './asset-from-response.ts'
import type { AssetNaming } from './asset-naming.ts'
import { assetIn, assetNameOf, from, withAssetNames } from './pair.ts'

/** The addresses of no swap are longer. */
const maxKeptLength = 600
const maxKeptAddresses = 1_000

/** A get or a row of a list whose deposit address cannot be one has none. Runs where asset names are the provider's. */
export function omitImpossibleDeposits(naming: AssetNaming, checksAddresses: boolean): Layer {
  // A swap is read many times, and its addresses cost more to decode than all else that this layer does.
  const payableTo = new BoundedMap<Asset | 'unknown asset'>({
    share: cacheShares.transactions,
    maxEntries: maxKeptAddresses,
    sizeOf: () => 0, // assets are those of the table
  })
  const payable = (row: Transaction): Transaction => {
    if (!row.depositAddress) return row
    const source = assetFromResponse(assetNameOf(row, from), naming) ?? {}
    const asset = assetIn(withAssetNames({}, source, {}), from, naming.table)
    const places = placesOf(row)
    if (payableTo.get(places) === (asset ?? 'unknown asset')) return row
    if (!isPayable(row, row, asset, checksAddresses)) return { ...row, depositAddress: undefined }
    if (places.length <= maxKeptLength) payableTo.set(places, asset ?? 'unknown asset')
    return row
  }
  return mapResponses({
    getTransaction: (response) => ({ ...response, body: payable(response.body) }),
    listTransactions: (response) => ({ ...response, body: { ...response.body, items: response.body.items.map(payable) } }),
  })
}

/** All that decides where its money goes. */
function placesOf(row: Transaction): string {
  const { depositAddress, depositExtraId, withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId } = row
  return `${depositAddress}\n${depositExtraId}\n${withdrawalAddress}\n${withdrawalExtraId}\n${refundAddress}\n${refundExtraId}`
}

type Places = Pick<Partial<Transaction>, 'withdrawalAddress' | 'withdrawalExtraId' | 'refundAddress' | 'refundExtraId'>

/**
 * Whether a deposit can be paid and arrives: the address fits the rule of its network, is neither a text for people nor a payment URI,
 * has an owner, and is not, with its memo, one of the swap's own `places`, where nobody would ever see it.
 */
export function isPayable(
  { depositAddress = '', depositExtraId }: Pick<Transaction, 'depositAddress' | 'depositExtraId'>,
  { withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId }: Places,
  asset: Pick<Asset, 'address'> | undefined,
  checksAddresses: boolean,
): boolean {
  const own = [
    { address: withdrawalAddress, extraId: withdrawalExtraId },
    { address: refundAddress, extraId: refundExtraId },
  ]
  return (
    isDepositAddress(depositAddress, asset, checksAddresses) &&
    !(checksAddresses && isOwnerless(depositAddress, asset)) &&
    !own.some((place) => isSamePlace(place, { address: depositAddress, extraId: depositExtraId }))
  )
}

/** A zero, system or known burn address. */
function isOwnerless(depositAddress: string, asset: Pick<Asset, 'address'> | undefined): boolean {
  const format = asset?.address?.format
  return format !== undefined && ownerlessKind(depositAddress, format) !== undefined
}

function isDepositAddress(depositAddress: string, asset: Pick<Asset, 'address'> | undefined, checksAddresses: boolean): boolean {
  if (!/^[!-~]+$/.test(depositAddress) || /[<>"]/.test(depositAddress)) return false
  const rule = asset?.address
  if (rule && isAddress(depositAddress, rule)) return true
  const [scheme] = /^[a-z][a-z0-9+.-]*:/i.exec(depositAddress) ?? []
  const isUri = scheme !== undefined && !(rule && hasPrefix(rule, scheme.toLowerCase()))
  return !isUri && !(rule && checksAddresses)
}

/** Prefixes with a colon that are part of an address, by format. */
const prefixes: Partial<Record<FormatName, string>> = { BCH: 'bitcoincash:', KAS: 'kaspa:', RONIN: 'ronin:' }

function hasPrefix({ format, pattern }: AddressRule, prefix: string): boolean {
  return format === undefined ? pattern?.source.includes(prefix) === true : prefixes[format] === prefix
}
