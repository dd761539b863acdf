/** What a provider's currency list says, in the words of the asset table (`spec/contract.md` §3, §9). */
import { type Asset, fold, isOn, sameName } from '../domain/asset.ts'
import type { Drift } from '../domain/observation.ts'
import type { Currency } from '../domain/swap.ts'
import type { Naming, Words } from './naming.ts'

/** One asset that a provider offers. `asset` is absent where the table lacks it: then the words are the provider's own. */
export interface Offer {
  readonly asset?: Asset
  readonly words: Words
  readonly row: Currency
  /** True where the words mean another asset too: it is listed, and cannot be asked for. */
  readonly isDoubtful?: boolean
}

export interface Listing {
  readonly offers: readonly Offer[]
  /** Assets of the table that the provider's words cannot name without doubt. */
  readonly doubtful: ReadonlySet<Asset>
  readonly provider: string | undefined
  /** On the clock of `performance.now()`. */
  readonly readAt: number
}

/** What the rows say by themselves. */
type Interpretation = Pick<Listing, 'offers' | 'doubtful'>

export function interpret(rows: readonly Currency[], naming: Naming, drift: (drift: Drift) => void): Interpretation {
  const { offers, contradicted } = naming.byCode ? readCodes(rows, naming, drift) : readCoins(rows, naming, drift)
  if (!naming.byCode) return { offers, doubtful: new Set() }
  const ambiguous = ambiguousOffers(offers, naming)
  for (const _ of ambiguous) drift('ambiguousName')
  const clear = new Set(offers.filter((offer) => !ambiguous.has(offer)).map(({ asset }) => asset))
  const assets = [...contradicted, ...[...ambiguous].map(({ asset }) => asset)].filter((asset) => asset !== undefined)
  return {
    offers: offers.map((offer) => (ambiguous.has(offer) ? { ...offer, isDoubtful: true } : offer)),
    doubtful: new Set(assets.filter((asset) => !clear.has(asset))),
  }
}

/** One word for two assets names neither, except the one that the table or the operator calls so. */
function ambiguousOffers(offers: readonly Offer[], naming: Naming): ReadonlySet<Offer> {
  const byWord = Map.groupBy(offers, ({ words }) => fold(words.code ?? ''))
  const isFirm = ({ asset, words }: Offer): boolean =>
    asset !== undefined && sameName(naming.wordsFor(asset)?.code ?? '', words.code ?? '')
  const shared = [...byWord.values()].filter((sharing) => sharing.length > 1)
  return new Set(shared.flatMap((sharing) => sharing.filter((offer) => !isFirm(offer))))
}

interface Rows {
  readonly offers: readonly Offer[]
  /** Assets whose word the provider lists on another network. */
  readonly contradicted: readonly Asset[]
}

/** Rows of a form that names an asset in one word, and may say its network beside it. */
function readCodes(rows: readonly Currency[], naming: Naming, drift: (drift: Drift) => void): Rows {
  const offers = new Map<string, Offer>()
  const contradicted: Asset[] = []
  for (const row of rows) {
    const { asset, contradicts } = meaningOf(row, naming)
    if (contradicts) contradicted.push(contradicts)
    if (contradicts && !asset) {
      drift('contradictingNetwork')
      continue
    }
    const code = row.code ?? ''
    const key = asset?.code ?? `own ${fold(code)} ${fold(row.network ?? '')}`
    if (offers.has(key) || (asset && !naming.wordsFor(asset))) continue
    const words = (asset && naming.ownWordsFor(asset)) ?? { code }
    offers.set(key, { ...(asset && { asset }), words, row: inTableWords(row, asset) })
  }
  return { offers: [...offers.values()], contradicted }
}

/** The asset of the table that a row is, and the one whose word it takes for another network; neither: it is the provider's own. */
function meaningOf(
  { code = '', network }: Currency,
  naming: Naming,
): { asset?: Asset | undefined; contradicts?: Asset | undefined } {
  const [byWord] = naming.meanings({ code })
  const named = [byWord, naming.table.byCode(code)].filter((asset) => asset !== undefined)
  const asset = named.find((candidate) => network === undefined || isOn(candidate, network))
  if (asset) return { asset }
  const byNetwork = network === undefined ? undefined : naming.table.find(code, network)
  return { asset: byNetwork, contradicts: named[0] }
}

/** Rows of a form that names a coin here and its network only in a question: one row is all the coin's assets. */
function readCoins(rows: readonly Currency[], naming: Naming, drift: (drift: Drift) => void): Rows {
  const offers = new Map<string, Offer>()
  for (const row of rows) {
    const coin = row.coin ?? ''
    const assets = naming.meanings({ coin })
    for (const asset of assets) {
      const words = naming.wordsFor(asset)
      if (words && !offers.has(asset.code)) offers.set(asset.code, { asset, words, row: inTableWords(row, asset) })
    }
    if (assets.length > 0 || naming.table.coin(coin)) continue
    const key = `own ${fold(coin)}`
    if (naming.table.byCode(coin)) drift('ambiguousName')
    else if (!offers.has(key)) offers.set(key, { words: { coin }, row: inTableWords(row, undefined) })
  }
  return { offers: [...offers.values()], contradicted: [] }
}

/** A row in both manners of naming, so that any form can show it; the table speaks where it knows the asset. */
function inTableWords(row: Currency, asset: Asset | undefined): Currency {
  const own = row.code ?? row.coin ?? ''
  if (!asset) return { ...row, code: own, coin: own }
  const { code, coin, network, name } = asset
  const limits = { depositMin: row.depositMin ?? asset.depositMin, depositMax: row.depositMax ?? asset.depositMax }
  const known = Object.fromEntries(Object.entries(limits).filter(([, amount]) => amount !== undefined))
  return { ...row, ...known, code, coin, network, name }
}
