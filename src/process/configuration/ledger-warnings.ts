/**
 * What a valid file means for what the ledger has (docs/contract.md §10, §12): one line for each thing. The start, a reload and `check`
 * tell the operator: swaps that go on without their provider, creates that were sent elsewhere, assets that are gone, and overrides.
 */
import type { Config } from '../../config/index.ts'
import { assetIn, assetNameOf, from, to } from '../../core/assets/asset-naming.ts'
import { type Destination, differences } from '../../core/destination.ts'
import type { AssetCount, DestinationCount, OpenCount } from '../../core/ledger-admin.ts'
import { openAt } from '../../core/operations/change.ts'
import { unconfiguredTags } from '../../core/operations/provider-status.ts'
import type { Followed, Override } from '../../core/operations/settings.ts'
import { byName, keyByName, settingOf } from '../../core/operations/settings.ts'
import type { TagRecord } from '../../core/routing/tag-records.ts'
import { type AssetTable, sameName } from '../../domain/asset.ts'
import type { Pair } from '../../domain/swap.ts'
import { destinationOf } from '../../provider/destination.ts'
import { configuredTags } from './tags.ts'

/** Of what is absent nothing is said. */
export interface LedgerFacts {
  readonly openCounts?: readonly OpenCount[]
  readonly destinationCounts?: readonly DestinationCount[]
  readonly assetCounts?: readonly AssetCount[]
  readonly tags?: readonly TagRecord[]
  /** As the file is followed. `ended`: by this file. */
  readonly overrides?: Pick<Followed, 'applied' | 'asleep'> & Partial<Pick<Followed, 'ended'>>
}

export function ledgerWarnings(
  file: Config,
  { openCounts = [], destinationCounts = [], assetCounts = [], tags = [], overrides }: LedgerFacts,
): readonly string[] {
  return [
    ...unusedProviders(file, openCounts, tags),
    ...changedDestinations(file, destinationCounts),
    ...missingAssets(file, assetCounts),
    ...(overrides ? overriddenSettings(file, overrides) : []),
  ]
}

/** Providers that the file takes out of use, or lacks, while something is open there. */
function unusedProviders(
  { providers, routing, auth }: Config,
  counts: readonly OpenCount[],
  records: readonly TagRecord[],
): readonly string[] {
  const openText = (tag: string): string => {
    const open = openAt(counts, tag)
    return open === 1 ? '1 open transaction or create' : `${open} open transactions or creates`
  }
  const inUse = providers.filter(({ tag }) => openAt(counts, tag) > 0)
  const isUnlisted = ({ name, state }: Config['providers'][number]): boolean =>
    auth.mode === 'passthrough' && state !== 'off' && !routing.providers.includes(name)
  return [
    ...inUse
      .filter(isUnlisted)
      .map(
        ({ name, tag }) =>
          `providers.${name} is not in routing.providers and has ${openText(tag)}: lists have only what the ledger holds of a key there`,
      ),
    ...inUse
      .filter(({ state }) => state === 'off')
      .map(
        ({ name, tag }) =>
          `providers.${name}.state is off with ${openText(tag)}: they stay as last seen until it is active or draining`,
      ),
    ...unconfiguredTags({ providers }, counts).map((tag) => {
      const renamed = renamedTo(tag, providers, records)
      const hint = renamed === undefined ? '' : `; providers.${renamed} has its URL: tag: ${tag} there keeps them`
      return `providers has no tag ${tag}, which has ${openText(tag)}: they stay as last seen until a provider has that tag again${hint}`
    }),
  ]
}

/** The provider that has the URL which the tag had last. */
function renamedTo(tag: string, providers: Config['providers'], records: readonly TagRecord[]): string | undefined {
  const url = records.find((record) => record.tag === tag)?.url
  const heir = url === undefined ? undefined : configuredTags({ providers }).find((configured) => configured.url === url)
  return providers.find((provider) => provider.tag === heir?.tag)?.name
}

const partNames: Readonly<Record<keyof Destination, string>> = {
  url: 'URL',
  form: 'form',
  timezone: 'timezone',
  account: 'account',
  key: 'key',
  listKey: 'key for lists',
}

/** Providers with creates of open outcome that were sent elsewhere than this file says. */
function changedDestinations(file: Config, counts: readonly DestinationCount[]): readonly string[] {
  return file.providers.flatMap((provider) => {
    const now = destinationOf(provider, file)
    const moved = counts
      .filter((count) => count.provider === provider.tag)
      .map(({ destination, count }) => ({ parts: differences(destination, now), count }))
      .filter(({ parts }) => parts.length > 0)
    const total = moved.reduce((sum, { count }) => sum + count, 0)
    if (total === 0) return []
    const parts = [...new Set(moved.flatMap((each) => each.parts))].map((part) => partNames[part]).join(', ')
    const [creates, were] = total === 1 ? ['1 create', 'was'] : [`${total} creates`, 'were']
    return [
      `providers.${provider.name}: ${creates} of unknown outcome ${were} sent with another ${parts}: none ends as not created now; what is found here is bound, and the rest waits for a person (swapgate ledger unknown)`,
    ]
  })
}

/** Assets of open transactions and creates that the table no longer has. */
function missingAssets({ assets }: Config, counts: readonly AssetCount[]): readonly string[] {
  const missing = new Map<string, number>()
  for (const { pair, count } of counts) {
    const codes = new Set([from, to].flatMap((side) => missingCode(pair, side, assets) ?? []))
    for (const code of codes) missing.set(code, (missing.get(code) ?? 0) + count)
  }
  return [...missing].map(([code, count]) => {
    const open = count === 1 ? '1 open transaction or create has' : `${count} open transactions or creates have`
    return `assets lacks ${code}, which ${open}: they go on by the words that their provider got`
  })
}

/** The code of an asset that the table had. A code that no table had is its own coin, on no network or on another one. */
function missingCode(pair: Pair, side: typeof from, table: AssetTable): string | undefined {
  const { code, coin, network } = assetNameOf(pair, side)
  if (code === undefined || coin === undefined || network === undefined) return undefined
  if (sameName(code, coin) && !sameName(network, coin)) return undefined
  const isKnown = assetIn(pair, side, table) !== undefined || table.find(coin, network) !== undefined
  return isKnown ? undefined : code
}

/** The overrides in force and asleep, and those that this file ends. */
function overriddenSettings(
  file: Config,
  { applied, asleep, ended = [] }: NonNullable<LedgerFacts['overrides']>,
): readonly string[] {
  const set = ({ key, value, actor, since }: Override): string =>
    `${keyByName(file, key)} is ${JSON.stringify(byName(file, value))}, set by ${actor} at ${new Date(since).toISOString()}`
  const inFile = ({ key }: Override): string => JSON.stringify(byName(file, settingOf(file, key)))
  const lacks = ({ key }: Override): string =>
    key === 'weights' ? 'does not go by weights of these providers' : 'has no such provider'
  return [
    ...applied.map((override) => `${set(override)}; the file says ${inFile(override)}`),
    ...asleep.map(
      (override) => `${set(override)}; it has no effect with this file, which ${lacks(override)}, and stays until a reset`,
    ),
    ...ended.map((override) => `${set(override)}; this file ends it: it says ${inFile(override)}`),
  ]
}
