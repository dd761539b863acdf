import { type Config, type Provider, packagedConfigFile } from '../config/index.ts'
import { assetIn, assetNameOf, from, to } from '../core/assets/asset-naming.ts'
import { parseCurrencyList } from '../core/assets/currency-list.ts'
import { unclearLines } from '../core/assets/provider-rows.ts'
import { type Destination, differences } from '../core/destination.ts'
import { openAt } from '../core/operations/change.ts'
import { unconfiguredTags } from '../core/operations/provider-status.ts'
import { byName, type Followed, keyByName, type Override, settingOf } from '../core/operations/settings.ts'
import type { AssetCount, DestinationCount, OpenCount } from '../core/ports/ledger-admin.ts'
import type { ListSource } from '../core/quotes/read-currency-list.ts'
import type { TagRecord } from '../core/routing/tag-records.ts'
import { type AssetTable, fold, networkNames, sameName } from '../domain/asset.ts'
import { isLoopback } from '../domain/network-address.ts'
import { parseRedisUrl } from '../domain/redis-url.ts'
import type { Currency, Pair } from '../domain/swap.ts'
import { providerFormNamed } from '../forms/index.ts'
import { baseUrlOf, destinationOf, namingOf } from '../provider/connected-provider.ts'
import { publicKeys } from '../sandbox/server.ts'
import { configuredTags } from './tags.ts'

/** Warns if the packaged configuration is used because the user has none. */
export function fileWarnings(file: string): readonly string[] {
  return file === packagedConfigFile ? [`there is no config/gateway.yaml here: using the packaged configuration, ${file}`] : []
}

/** From so long before. */
const toldBeforeMs = 30 * 86_400_000

/** What changes soon, or has changed, about assets of the table, until an edit of the table follows it. `now`: in milliseconds since 1970. */
export function upcomingChanges({ coins }: AssetTable, now: number): readonly string[] {
  const changing = coins.flatMap(({ assets }) => assets.filter((asset) => asset.isOffered !== false && asset.change))
  const near = changing.filter(({ change }) => Date.parse(change?.on ?? '') - now <= toldBeforeMs)
  const byChange = Map.groupBy(near, ({ change }) => `${change?.what} on ${change?.on}`)
  return [...byChange].map(([change, same]) => {
    const codes = same.map(({ code }) => code).join(', ')
    return `assets: ${change} (${codes}): edit the table (docs/assets.md)`
  })
}

/** Warnings about a valid configuration that is weaker than it could be: one line each. */
export function configWarnings({
  admin,
  assets,
  auth,
  keyInQuery,
  ledger,
  limits,
  providers: known,
  redis,
  replicas,
  routing,
  sandbox,
  server,
  warnings,
  webhooks,
}: Config): readonly string[] {
  const { untagged, providers } = routing
  const isPassthrough = auth.mode === 'passthrough'
  const isUnrouted = untagged !== '' && !providers.includes(untagged)
  return [
    ...warnings,
    ...(redis.url === '' ? ['limits are per process and reset on restart: set redis.url to share them'] : []),
    ...(sendsRedisPassword(redis.url) ? ['redis.url: its password crosses the network in clear; use rediss'] : []),
    ...(sendsPostgresPassword(ledger.url)
      ? ['ledger.url: its password, or what proves it, crosses the network in clear; use sslmode=verify-full']
      : []),
    ...(replicas > 1 && ledger.url.startsWith('sqlite:')
      ? [
          `replicas is ${replicas}, and ledger.url is a SQLite file: gateways on other machines do not share it, and one key makes a swap in each. Use PostgreSQL`,
        ]
      : []),
    ...(keyInQuery
      ? [
          'exolix.keyInQuery: keys of clients may be in URLs, which proxies and browsers store; no log or trace of the gateway has them',
        ]
      : []),
    ...(webhooks.proxy === undefined
      ? []
      : ['webhooks.proxy: webhooks go through this proxy, and the addresses that they lead to are not judged']),
    ...(limits.dryRun ? ['limits.dryRun: limits are only counted, and no request is rejected'] : []),
    ...(Object.keys(admin.tokens).length > 0 && !isLoopback(admin.host)
      ? [`admin.tokens: tokens and keys cross the network in plain http, since admin.host is ${admin.host}`]
      : []),
    ...known
      .filter(({ name, url }) => isPassthrough && providers.includes(name) && isPlainHttpToOtherHost(url))
      .map(({ name }) => `clients' keys go to ${name} over plain http`),
    ...known
      .filter(({ native }) => isPassthrough && native.length > 0)
      .map(
        ({ name }) =>
          `providers.${name}.native: of no effect with the provider's own keys: the native lane takes keys that you issue`,
      ),
    ...known
      .filter(({ form }) => !providerFormNamed(form).operation('listTransactions'))
      .map(
        ({ name, form }) =>
          `providers.${name}: the form ${form} has no list of transactions: a create of unknown outcome is not found again, and waits for a person`,
      ),
    ...upcomingChanges(assets, Date.now()),
    ...known.flatMap((provider) => memoWarnings(provider, assets)),
    ...known
      .filter(({ networks }) => networks === 'unconfirmed')
      .map(
        ({ name }) =>
          `providers.${name}.networks: unconfirmed: nothing shows on which network ${name} has created a swap of a coin that has several`,
      ),
    ...accountWarnings(known),
    ...known.flatMap((provider) => addressWarnings(provider, server.trustProxy)),
    ...(sandbox.enabled ? [`the sandbox runs, and its keys are public: ${publicKeys.join(', ')}`] : []),
    ...(isPassthrough && isUnrouted
      ? [`routing.untagged: ids without a tag are answered 404, since ${untagged} is not in routing.providers`]
      : []),
    ...(!isPassthrough && untagged !== ''
      ? ['routing.untagged has no effect with managed keys: the owner of such a swap is unknown']
      : []),
    ...(isPassthrough && routing.pick.length > 0 ? ['routing.pick is of no effect in passthrough mode'] : []),
    ...(known.some((provider) => takesNewSwaps(provider, routing))
      ? []
      : ['no provider takes new swaps: quotes and creates are 503']),
  ]
}

/** Warnings about a configuration that the one before did not have. */
export function newConfigWarnings(before: Config, after: Config): readonly string[] {
  const known = configWarnings(before)
  return configWarnings(after).filter((warning) => !known.includes(warning))
}

function takesNewSwaps({ name, state }: Provider, { providers, strategy, weights }: Config['routing']): boolean {
  return state === 'active' && providers.includes(name) && (strategy !== 'weighted' || weights?.[name] !== 0)
}

/** Coins that are not offered since nobody has said whether their deposit addresses are shared there. */
function memoWarnings({ name, extraIds, depositMemo, state }: Provider, table: Config['assets']): readonly string[] {
  if (extraIds !== false || depositMemo.isConfigured || state === 'off') return []
  const used = new Set(table.coins.flatMap(({ assets }) => assets.flatMap(networkNames)))
  return depositMemo.networks
    .filter((network) => used.has(fold(network)))
    .map(
      (network) =>
        `providers.${name}: swaps from the network ${network} are not offered, since a deposit there may need a memo: write "extraIds: true" if it supports memos, or "depositMemo: [${depositMemo.networks.filter((other) => other !== network).join(', ')}]" if each of its deposit addresses there is for one swap only`,
    )
}

/** Providers that are one account, as far as can be seen, but have two. */
function accountWarnings(providers: readonly Provider[]): readonly string[] {
  return providers.flatMap((provider, at) =>
    providers.slice(0, at).flatMap((other) => {
      if (other.account === provider.account) return []
      const isOneKey = provider.key !== '' && provider.key === other.key
      const isOneUrl = baseUrlOf(provider.url) === baseUrlOf(other.url)
      if (!isOneKey && !isOneUrl) return []
      const names = `providers.${other.name} and providers.${provider.name}`
      return [
        `${names} have one ${isOneKey ? 'key' : 'host and path'}, but two accounts: with one \`account\` no swap of one is taken for the other's`,
      ]
    }),
  )
}

function addressWarnings({ name, form, forwardAddress }: Provider, trustProxy: number): readonly string[] {
  if (!forwardAddress) return []
  if (!providerFormNamed(form).sendsAddress)
    return [`providers.${name}.forwardAddress: of no effect: the form ${form} sends no address of a client`]
  return trustProxy > 0
    ? []
    : [
        `providers.${name}.forwardAddress: server.trustProxy is 0, so the provider gets the address of each connection: if clients come through a proxy, that of the proxy`,
      ]
}

function sendsRedisPassword(url: string): boolean {
  if (url === '') return false
  const { isEncrypted, endpoints, credentials, sentinelCredentials } = parseRedisUrl(url)
  const hasPassword = credentials.password !== undefined || sentinelCredentials.password !== undefined
  return hasPassword && !isEncrypted && endpoints.some(({ host }) => !isLoopback(host))
}

/** A host that begins with a slash is a socket of this machine. */
function sendsPostgresPassword(ledgerUrl: string): boolean {
  if (ledgerUrl.startsWith('sqlite:')) return false
  const { hostname, password, searchParams: query } = new URL(ledgerUrl)
  const hosts = (query.get('host') ?? decodeURIComponent(hostname)).split(',').filter((host) => host !== '')
  const isEncrypted =
    query.get('ssl') === 'true' || query.get('ssl') === '1' || !['disable', 'allow', null].includes(query.get('sslmode'))
  const hasPassword = password !== '' || query.has('password')
  return hasPassword && !isEncrypted && hosts.some((host) => !host.startsWith('/') && !isLoopback(host))
}

/** Whether others on the network can read the traffic. */
function isPlainHttpToOtherHost(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isLoopback(hostname)
}

// What a valid file means for what the ledger has (docs/contract.md §10, docs/contract-operators.md §12): one line for each thing. The start, a reload and `check`
// tell the operator: swaps that go on without their provider, creates that were sent elsewhere, assets that are gone, and overrides.

/** Of what is absent nothing is said. */
interface LedgerFacts {
  readonly openCounts?: readonly OpenCount[]
  readonly destinationCounts?: readonly DestinationCount[]
  readonly assetCounts?: readonly AssetCount[]
  readonly tags?: readonly TagRecord[]
  /** As the file is followed. `ended`: by this file. */
  readonly overrides?: Pick<Followed, 'applied' | 'asleep'> & Partial<Pick<Followed, 'ended'>>
  /** Keys that are valid from some networks only. */
  readonly networkKeys?: number
  /** All that there are. */
  readonly accountNames?: readonly string[]
}

export function ledgerWarnings(
  file: Config,
  { openCounts = [], destinationCounts = [], assetCounts = [], tags = [], overrides, networkKeys = 0, accountNames }: LedgerFacts,
): readonly string[] {
  return [
    ...unusedProviders(file, openCounts, tags),
    ...changedDestinations(file, destinationCounts),
    ...missingAssets(file, assetCounts),
    ...(overrides ? overriddenSettings(file, overrides) : []),
    ...(networkKeys > 0 && file.server.trustProxy === 0 ? [networkKeysWarning] : []),
    ...(accountNames ? unknownAccounts(file, accountNames) : []),
  ]
}

/** Of `check`, and where such a key is issued. */
export const networkKeysWarning =
  'server.trustProxy is 0, and keys are valid from some networks only: behind a proxy every request has the address of the proxy'

/** The assets that a provider does not offer, since its last list has them twice and nothing says which row counts. `load`: its rows. */
export async function unclearAssets(
  { assets, providers }: Config,
  load: (source: ListSource) => Promise<readonly Currency[] | undefined>,
): Promise<readonly string[]> {
  const lines = providers.map(async (provider) => {
    const { name, tag, url, state } = provider
    const form = providerFormNamed(provider.form)
    const rows = state === 'off' ? undefined : await load({ provider: tag, url, form: form.name })
    if (!rows) return []
    const { unclear } = await parseCurrencyList(rows, namingOf(provider, form, assets), () => {})
    return unclearLines(unclear).map((line) => `providers.${name} ${line}`)
  })
  return (await Promise.all(lines)).flat()
}

/** Accounts whose label no request will have. */
function unknownAccounts({ telemetry }: Config, known: readonly string[]): readonly string[] {
  const names = new Set(known)
  return telemetry.accounts
    .filter((account) => !names.has(account))
    .map((account) => `telemetry.accounts: no account has the name ${account}: nothing is counted for it`)
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
