/** Rows of a form that names a coin here and its network only in a question: one row is all the coin's assets. */
import { fold } from '../domain/asset.ts'
import type { Drift } from '../domain/observation.ts'
import { inSlices } from '../domain/slices.ts'
import type { Currency } from '../domain/swap.ts'
import type { Naming } from './naming.ts'
import { inTableWords, type Meaning, type Offer } from './offer.ts'

export async function readCoins(rows: readonly Currency[], naming: Naming, drift: (drift: Drift) => void): Promise<Meaning> {
  const offers = new Map<string, Offer>()
  await inSlices(rows, (row) => {
    const coin = row.coin ?? ''
    const assets = naming.meanings({ coin })
    for (const asset of assets) {
      const words = naming.wordsFor(asset)
      if (words && !offers.has(asset.code)) offers.set(asset.code, { asset, words, row: inTableWords(row, asset) })
    }
    if (assets.length > 0 || naming.table.coin(coin)) return
    const key = `own ${fold(coin)}`
    if (naming.table.byCode(coin)) drift('ambiguousName')
    else if (!offers.has(key)) offers.set(key, { words: { coin }, row: inTableWords(row, undefined) })
  })
  return { offers: [...offers.values()], doubtful: new Set() }
}
