/**
 * Rows of a form that names an asset in one word, and may say its network beside it. A word that a list uses for several
 * assets, or for another network than the table, names none of them.
 */
import { type Asset, fold, isOn } from '../domain/asset.ts'
import type { Drift } from '../domain/observation.ts'
import { inSlices } from '../domain/slices.ts'
import type { Currency } from '../domain/swap.ts'
import type { Naming } from './naming.ts'
import { inTableWords, type Meaning, type Offer } from './offer.ts'

/** What each word (folded) is used for in the list. */
type Uses = Map<string, Set<Asset | string>>

export async function readCodes(rows: readonly Currency[], naming: Naming, drift: (drift: Drift) => void): Promise<Meaning> {
  const uses: Uses = new Map()
  const found = new Map<Asset | string, Offer[]>()
  await inSlices(rows, (row) => {
    const { asset, isContradiction } = meaningOf(row, naming)
    const code = row.code ?? ''
    const use = asset ?? `${fold(code)}\n${fold(row.network ?? '')}`
    uses.getOrInsertComputed(fold(code), () => new Set()).add(use)
    if (isContradiction) drift('contradictingNetwork')
    if (isContradiction || (asset && !naming.wordsFor(asset))) return
    const offers = found.getOrInsertComputed(use, () => [])
    if (offers.length > 0 && !asset) return
    const words = (asset && naming.ownWordsFor(asset)) ?? { code }
    offers.push({ ...(asset && { asset }), words, row: inTableWords(row, asset) })
  })
  const isDoubtful = ({ asset, words }: Offer): boolean => isContradicted(uses, words.code ?? '', asset)
  const offers: Offer[] = []
  await inSlices(found.values(), (candidates) => {
    const offer = bestOf(candidates, isDoubtful)
    if (isDoubtful(offer)) drift('ambiguousName')
    offers.push(isDoubtful(offer) ? { ...offer, isDoubtful: true } : offer)
  })
  return { offers, doubtful: doubtfulAssets(offers, uses, naming) }
}

/** The asset of the table that a row is; a contradiction where its word is the table's and its network is not. */
function meaningOf(
  { code = '', network }: Currency,
  naming: Naming,
): { readonly asset?: Asset | undefined; readonly isContradiction: boolean } {
  const named = [...naming.meanings({ code }), naming.table.byCode(code)].filter((asset) => asset !== undefined)
  const asset = named.find((candidate) => network === undefined || isOn(candidate, network))
  if (asset) return { asset, isContradiction: false }
  const byNetwork = network === undefined ? undefined : naming.table.find(code, network)
  return { asset: byNetwork, isContradiction: named.length > 0 && !byNetwork }
}

/** Of the rows that mean one asset: the one with the table's word, unless only another word is without doubt. */
function bestOf(candidates: readonly Offer[], isDoubtful: (offer: Offer) => boolean): Offer {
  const clear = candidates.filter((offer) => !isDoubtful(offer))
  const isTableWord = ({ asset, words }: Offer): boolean => fold(words.code ?? '') === fold(asset?.code ?? '')
  return clear.find(isTableWord) ?? clear[0] ?? (candidates[0] as Offer)
}

/** Whether the list uses the word for anything but this asset; without an asset, for more than one thing. */
function isContradicted(uses: Uses, word: string, asset: Asset | undefined): boolean {
  const used = uses.get(fold(word))
  return used !== undefined && (used.size > 1 || (asset !== undefined && !used.has(asset)))
}

/** Those that no word names clearly, where some word of the list or the table's might have. */
function doubtfulAssets(offers: readonly Offer[], uses: Uses, naming: Naming): ReadonlySet<Asset> {
  const clear = new Set(offers.filter((offer) => !offer.isDoubtful).map(({ asset }) => asset))
  const unclear = offers.filter((offer) => offer.isDoubtful).map(({ asset }) => asset)
  const assets = naming.table.coins.flatMap((coin) => coin.assets)
  const contradicted = assets.filter((asset) => {
    const word = naming.wordsFor(asset)?.code
    return word !== undefined && isContradicted(uses, word, asset)
  })
  return new Set([...unclear, ...contradicted].filter((asset) => asset !== undefined && !clear.has(asset)) as Asset[])
}
