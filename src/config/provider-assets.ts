/** Checks a provider's own asset names: each names one asset of the table (docs/contract.md §3, §9). */
import { type Asset, type AssetTable, fold } from '../domain/asset.ts'
import { namesByCode } from '../domain/service.ts'
import type { ProviderForm } from '../wire/provider-form.ts'
import type { Faults } from './faults.ts'
import type { ProviderSettings } from './schema.ts'

type ProviderAsset = ProviderSettings['assets'][string]

export function checkProviderAssets(
  { assets }: ProviderSettings,
  form: ProviderForm,
  table: AssetTable | undefined,
  faults: Faults,
): void {
  const byCode = namesByCode(form.capabilities)
  const codes = Object.keys(assets).map(fold)
  const renamed = Object.entries(assets).filter(([, providerAsset]) => providerAsset === null || isNamed(providerAsset))
  const taken = tableKeys(
    renamed.map(([code]) => fold(code)),
    table,
    byCode,
  )
  for (const [at, [code, providerAsset]] of Object.entries(assets).entries()) {
    if (table && !table.byCode(code)) faults.add(['assets', code], 'is not a code of the asset table')
    if (codes.indexOf(fold(code)) !== at) faults.add(['assets', code], 'is given twice')
    if (!isNamed(providerAsset)) continue
    if (byCode !== 'code' in providerAsset) faults.add(['assets', code], byCode ? 'must be one word' : 'must be { coin, network }')
    const key = toKey(providerAsset)
    if (taken.has(key)) faults.add(['assets', code], 'is already the name of another code')
    taken.add(key)
  }
}

/** The names at the provider of assets without a configured name. An alias of a network means that network. */
function tableKeys(own: readonly string[], table: AssetTable | undefined, byCode: boolean): Set<string> {
  const assets = (table?.coins ?? []).flatMap((coin) => coin.assets).filter(({ code }) => !own.includes(fold(code)))
  const defaultNames = ({ code, coin, network, aliases }: Asset): readonly NamedAsset[] =>
    byCode ? [{ code }] : [network, ...aliases].map((name) => ({ coin, network: name }))
  return new Set(assets.flatMap(defaultNames).map(toKey))
}

type NamedAsset = { readonly code: string } | { readonly coin: string; readonly network: string }

/** Whether it has a name, and not only a contract. */
function isNamed(providerAsset: ProviderAsset): providerAsset is NamedAsset {
  return providerAsset !== null && ('code' in providerAsset || 'coin' in providerAsset)
}

function toKey(providerAsset: NamedAsset): string {
  return JSON.stringify(
    'code' in providerAsset ? [fold(providerAsset.code)] : [fold(providerAsset.coin), fold(providerAsset.network)],
  )
}
