import type { Config, Provider } from '../../config/index.ts'
import { fold, networkNames } from '../../domain/asset.ts'
import { isLoopback } from '../../domain/network-address.ts'
import { parseRedisUrl } from '../../domain/redis-url.ts'
import { providerFormNamed } from '../../forms/index.ts'
import { placeOf } from '../../provider/destination.ts'
import { publicKeys } from '../../sandbox/keys.ts'

/** Warnings about a valid configuration that is weaker than it could be: one line each. */
export function configWarnings({
  admin,
  assets,
  auth,
  ledger,
  limits,
  providers: known,
  redis,
  routing,
  sandbox,
  server,
}: Config): readonly string[] {
  const { untagged, providers } = routing
  const isPassthrough = auth.mode === 'passthrough'
  const isUnrouted = untagged !== '' && !providers.includes(untagged)
  return [
    ...(redis.url === '' ? ['limits are kept in memory: each process counts for itself, and a restart begins anew'] : []),
    ...(sendsRedisPassword(redis.url) ? ['redis.url: its password crosses the network in clear; use rediss'] : []),
    ...(sendsPostgresPassword(ledger.url)
      ? ['ledger.url: its password, or what proves it, crosses the network in clear; use sslmode=verify-full']
      : []),
    ...(limits.replicas > 1 && ledger.url.startsWith('sqlite:')
      ? [
          `limits.replicas is ${limits.replicas}, and ledger.url is a SQLite file: gateways on other machines do not share it, and one key makes a swap in each. Use PostgreSQL`,
        ]
      : []),
    ...(limits.shadow ? ['limits.shadow: limits are only counted, and no request is rejected'] : []),
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
      const isOnePlace = placeOf(provider.url) === placeOf(other.url)
      if (!isOneKey && !isOnePlace) return []
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
  const { isEncrypted, places, credentials, sentinelCredentials } = parseRedisUrl(url)
  const hasPassword = credentials.password !== undefined || sentinelCredentials.password !== undefined
  return hasPassword && !isEncrypted && places.some(({ host }) => !isLoopback(host))
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
