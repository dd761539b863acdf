/** A provider's whole currency list, in the words of the asset table (`spec/contract.md` §3, §8, §9). */
import { type Asset, fold, isOn, sameName } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Drift } from '../domain/observation.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { Currency } from '../domain/swap.ts'
import type { Naming, Words } from './naming.ts'
import { readWhole } from './pages.ts'

/** One asset that a provider offers. `asset` is absent where the table lacks it: then the words are the provider's own. */
export interface Offer {
  readonly asset?: Asset
  readonly words: Words
  readonly row: Currency
}

export interface Listing {
  readonly offers: readonly Offer[]
  /** Assets that the provider's words cannot name without doubt. */
  readonly doubtful: ReadonlySet<Asset>
  readonly provider: string | undefined
  /** On the clock of `performance.now()`. */
  readonly readAt: number
}

export interface Catalogue {
  readonly naming: Naming
  /** Read once for each `lifetime`, by one call however many ask; the last one serves while the provider fails. */
  readonly listing: (context: Context) => Promise<Listing>
}

export interface CatalogueOptions {
  readonly service: SwapService
  readonly naming: Naming
  /** Milliseconds. */
  readonly lifetime: number
  readonly staleFor: number
  readonly drift: (drift: Drift) => void
}

const mostCurrencies = 10_000

export function catalogue({ service, naming, lifetime, staleFor, drift }: CatalogueOptions): Catalogue {
  let last: Listing | undefined
  let reading: Promise<Listing> | undefined
  const read = async (context: Context): Promise<Listing> => {
    const whole = await readWhole<'listCurrencies', Currency>(service, 'listCurrencies', context, {
      identify: ({ code, coin, network }) => `${code ?? coin}\n${network ?? ''}`,
      most: mostCurrencies,
      tooMany: () => new Fault('unreadable', "The provider's list of currencies is too long."),
    })
    return { ...interpret(whole.rows, naming, drift), provider: whole.provider, readAt: performance.now() }
  }
  return {
    naming,
    async listing(context) {
      if (last && performance.now() - last.readAt < lifetime) return last
      reading ??= read(context).finally(() => {
        reading = undefined
      })
      try {
        last = await reading
        return last
      } catch (reason) {
        if (last && performance.now() - last.readAt < lifetime + staleFor) return last
        throw asFailure(reason)
      }
    },
  }
}

/** The list is the gateway's own question: a refusal of it is not the client's fault. */
function asFailure(reason: unknown): Fault {
  const fault = Fault.from(reason)
  if (fault.kind !== 'invalid' && fault.kind !== 'notFound') return fault
  const message = "The provider's list of currencies could not be read; please try again later."
  return new Fault('failed', message, { cause: fault, ...(fault.provider !== undefined && { provider: fault.provider }) })
}

type Interpretation = Pick<Listing, 'offers' | 'doubtful'>

function interpret(rows: readonly Currency[], naming: Naming, drift: (drift: Drift) => void): Interpretation {
  const { offers, contradicted } = naming.byCode ? readCodes(rows, naming, drift) : readCoins(rows, naming, drift)
  if (!naming.byCode) return { offers, doubtful: new Set() }
  const ambiguous = ambiguousOffers(offers, naming)
  for (const _ of ambiguous) drift('ambiguousName')
  const clear = offers.filter((offer) => !ambiguous.has(offer))
  const listed = new Set(clear.map(({ asset }) => asset))
  const assets = [...contradicted, ...[...ambiguous].map(({ asset }) => asset)].filter((asset) => asset !== undefined)
  return { offers: clear, doubtful: new Set(assets.filter((asset) => !listed.has(asset))) }
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
    if (contradicts) {
      contradicted.push(contradicts)
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

/** The asset of the table that a row is, or the one whose word it takes for another network; neither: it is the provider's own. */
function meaningOf(
  { code = '', network }: Currency,
  naming: Naming,
): { asset?: Asset | undefined; contradicts?: Asset | undefined } {
  const [byWord] = naming.meanings({ code })
  const named = [byWord, naming.table.byCode(code)].filter((asset) => asset !== undefined)
  const asset = named.find((candidate) => network === undefined || isOn(candidate, network))
  if (asset) return { asset }
  const byNetwork = network === undefined ? undefined : naming.table.find(code, network)
  return byNetwork ? { asset: byNetwork } : { contradicts: named[0] }
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
