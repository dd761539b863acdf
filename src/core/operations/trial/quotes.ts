/** Whether a provider quotes a pair of assets that it and the table have. */

import { isZero } from '../../../domain/amount.ts'
import type { Asset } from '../../../domain/asset.ts'
import type { Fault } from '../../../domain/fault.ts'
import { printable } from '../../../domain/printable.ts'
import type { RateType } from '../../../domain/swap.ts'
import type { Listing } from '../../assets/listing.ts'
import { notOfferedReasons, type Quote, quoteSuitableAmount } from '../quote-diff.ts'
import { fails, type KeyedEnds, skipped, type TrialCheck, type TriedProvider, works } from './checks.ts'
import { describeFault } from './describe-fault.ts'

const maxPairs = 3

export function checkAssets(listing: Listing, provider: TriedProvider): TrialCheck {
  const clear = usableAssets(listing)
  const { ambiguousAssets, otherTokens } = listing
  const ambiguous = [...ambiguousAssets].filter((asset) => !otherTokens.has(asset)).map(({ code }) => code)
  const others = [...otherTokens].map(
    ([{ code, contract = 'unknown' }, listed]) => `${code} (${printable(listed.slice(0, 128))} in the place of ${contract})`,
  )
  const assets = clear.map(({ code }) => code)
  const also =
    (ambiguous.length > 0 ? `; ambiguous, so not offered: ${ambiguous.join(', ')}` : '') +
    (others.length > 0 ? `; another contract than the table's, so not offered: ${others.join(', ')}` : '') +
    depositsText(clear, listing, provider)
  const message = `${assets.length} are in the table${assets.length > 0 ? `: ${assets.join(', ')}` : ''}${also}`
  return { check: 'assets', outcome: assets.length > 1 ? 'works' : 'fails', message, assets }
}

/** Whether a deposit is safe on each network that has memos: where its addresses are shared, one without its memo is lost. */
function depositsText(assets: readonly Asset[], listing: Listing, { sharedDeposits, acceptsMemos }: TriedProvider): string {
  const texts = new Map<string, string>()
  for (const asset of assets) {
    const isListed = listing.byAsset.get(asset)?.row.needsMemo === true
    const isShared = sharedDeposits.mayBeShared({ code: asset.code })
    if (asset.memo === 'none' || (asset.memo === undefined && !isShared && !isListed)) continue
    const place = isListed ? `${asset.network} (${asset.code}, as its list says)` : asset.network
    if (!isShared && isListed) texts.set(place, `${place} is said to need a memo, which depositMemo does not ask for`)
    else if (!isShared) texts.set(place, `${place} is taken for addresses of one swap each`)
    else if (acceptsMemos) texts.set(place, `${place} needs a memo`)
    else texts.set(place, `${place} needs a memo, so not offered without extraIds`)
  }
  return texts.size === 0 ? '' : `; deposits: ${[...texts.values()].join(', ')}`
}

/** In the order of the list. */
function usableAssets({ byAsset, ambiguousAssets }: Listing): readonly Asset[] {
  return [...byAsset].flatMap(([asset, { isAmbiguous = false }]) => (isAmbiguous || ambiguousAssets.has(asset) ? [] : [asset]))
}

export async function checkQuote(
  provider: TriedProvider,
  ends: KeyedEnds,
  rateType: RateType,
  listing: Listing | undefined,
): Promise<TrialCheck> {
  const check = `${rateType} quote` as const
  if (!provider.has('getRate', rateType)) return { check, outcome: 'none', message: 'the form has no swaps with this type of rate' }
  if (provider.lacksAddress(rateType)) return skipped(check, 'it carries the address of a client: give your own as --address')
  const pairs = listing ? pairsIn(provider, listing) : []
  if (!listing || pairs.length === 0) return skipped(check, 'there is no pair of assets to quote')
  const sources = { services: [provider.translated], rateType, contextOf: provider.contextOf }
  let found = fails(check, 'no quote')
  for (const [from, to] of pairs) {
    const listedMinimum = listing.byAsset.get(from)?.row.depositMin
    const { amount, quotes } = await quoteSuitableAmount({ from: from.code, to: to.code, listedMinimum }, sources)
    const [quote = {}] = quotes
    if (provider.needsKey('getRate')) ends.set('getRate', quote.fault ?? 'done')
    const wrong = wrongWith(quote, provider.isQuotedFirst(rateType))
    const pair = `${amount} ${from.code} to ${to.code}`
    found =
      wrong === undefined
        ? works(check, `${pair} gives ${quote.received}, ${limitsText(quote)}`)
        : fails(check, `${pair}: ${wrong}`)
    if (!quote.fault || !mayOtherPairWork(quote.fault)) return found
  }
  return found
}

/** Of the first assets of the table: those of most trade come first there. */
function pairsIn({ catalogue }: TriedProvider, listing: Listing): readonly (readonly [Asset, Asset])[] {
  const usable = new Set(usableAssets(listing))
  const assets = catalogue.naming.table.coins.flatMap((coin) => coin.assets).filter((asset) => usable.has(asset))
  const [first, ...others] = assets
  if (!first) return []
  const second = others.filter(({ coin }) => coin !== first.coin)
  return second
    .flatMap((asset, at) => (at === 0 ? [[first, asset] as const, [asset, first] as const] : [[first, asset] as const]))
    .slice(0, maxPairs)
}

function mayOtherPairWork({ kind, reason }: Fault): boolean {
  return kind === 'invalid' && (reason === 'refused' || notOfferedReasons.has(reason))
}

function wrongWith({ fault, received, quoteId }: Quote, needsId: boolean): string | undefined {
  if (fault) return describeFault(fault)
  if (received === undefined || isZero(received)) return 'the quote has no amount received'
  return needsId && quoteId === undefined ? 'the quote has no id, which a create at this rate needs' : undefined
}

function limitsText({ minAmount, maxAmount }: Quote): string {
  return `minimum ${minAmount ?? 'unknown'}, maximum ${maxAmount ?? 'unknown'}`
}
