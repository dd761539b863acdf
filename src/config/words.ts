/** A provider's own words for assets: each names one asset of the table (docs/contract.md §3, §9). */
import { type Asset, type AssetTable, fold } from '../domain/asset.ts'
import { namesByCode } from '../domain/vocabulary.ts'
import type { Form } from '../wire/form.ts'
import type { Faults } from './faults.ts'
import type { ProviderSettings } from './schema.ts'

type OwnWords = ProviderSettings['assets'][string]

export function checkWords({ assets }: ProviderSettings, form: Form, table: AssetTable | undefined, faults: Faults): void {
  const byCode = namesByCode(form.vocabulary)
  const codes = Object.keys(assets).map(fold)
  const taken = wordsOfTheTable(codes, table, byCode)
  for (const [at, [code, words]] of Object.entries(assets).entries()) {
    if (table && !table.byCode(code)) faults.add(['assets', code], 'is not a code of the asset table')
    if (codes.indexOf(fold(code)) !== at) faults.add(['assets', code], 'is given twice')
    if (!words) continue
    if (byCode !== 'code' in words) faults.add(['assets', code], byCode ? 'must be one word' : 'must be { coin, network }')
    const said = toKey(words)
    if (taken.has(said)) faults.add(['assets', code], 'is what another code is called there')
    taken.add(said)
  }
}

/** What the assets that have no words of their own are called at the provider; an alias of a network means that network. */
function wordsOfTheTable(own: readonly string[], table: AssetTable | undefined, byCode: boolean): Set<string> {
  const assets = (table?.coins ?? []).flatMap((coin) => coin.assets).filter(({ code }) => !own.includes(fold(code)))
  const namesOf = ({ code, coin, network, aliases }: Asset): readonly NonNullable<OwnWords>[] =>
    byCode ? [{ code }] : [network, ...aliases].map((name) => ({ coin, network: name }))
  return new Set(assets.flatMap(namesOf).map(toKey))
}

function toKey(words: NonNullable<OwnWords>): string {
  return JSON.stringify('code' in words ? [fold(words.code)] : [fold(words.coin), fold(words.network)])
}
