/** The grammar of `redis.url`: one node, Sentinel or Cluster. */

export interface Endpoint {
  readonly host: string
  readonly port: number
}

interface Credentials {
  readonly username?: string
  readonly password?: string
}

export interface RedisAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster'
  /** The node, the sentinels, or seed nodes of the cluster. */
  readonly endpoints: readonly Endpoint[]
  readonly isEncrypted: boolean
  /** For Redis itself. */
  readonly credentials: Credentials
  readonly sentinelCredentials: Credentials
  /** The sentinels' name of the group. */
  readonly name: string
  readonly database: number
}

const pattern =
  /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^/?#]*))?(?:\/(\d+))?(?:\?sentinel=([^?#]+))?$/
const standardPorts = { single: 6379, sentinel: 26_379, cluster: 6379 } as const

/**
 * `redis://user:password@host:port/database`, `redis+sentinel://host:port,host:port/name/database?sentinel=user:password`,
 * `redis+cluster://host:port,host:port`; `rediss…` is TLS. Throws an `Error` whose message contains no part of the URL.
 */
export function parseRedisUrl(url: string): RedisAddress {
  const [, tls, kind = 'single', user = '', hosts = '', first = '', second, sentinelUser = ''] = pattern.exec(url) ?? fail()
  if (!isKind(kind)) return fail()
  const [name, database] = kind === 'sentinel' ? [first, second ?? '0'] : ['', first || '0']
  const isWhole = (kind === 'sentinel') === (name !== '') && (kind === 'sentinel' || second === undefined) && /^\d+$/.test(database)
  const endpoints = hosts.split(',').map((host) => endpointOf(host, standardPorts[kind]))
  if (!isWhole || (kind === 'single' && endpoints.length > 1) || (kind === 'cluster' && first !== '')) return fail()
  if (sentinelUser !== '' && kind !== 'sentinel') return fail()
  const credentials = credentialsOf(user)
  const sentinelCredentials = credentialsOf(sentinelUser)
  return { kind, endpoints, isEncrypted: tls === 's', credentials, sentinelCredentials, name, database: Number(database) }
}

export function isRedisUrl(text: string): boolean {
  try {
    parseRedisUrl(text)
    return true
  } catch {
    return false
  }
}

function isKind(word: string): word is RedisAddress['kind'] {
  return word in standardPorts
}

function endpointOf(text: string, standardPort: number): Endpoint {
  const [, bracketed, plain, digits] = /^(?:\[([\da-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? fail()
  const port = Number(digits ?? standardPort)
  return port > 0 && port < 65_536 ? { host: bracketed ?? plain ?? '', port } : fail()
}

function credentialsOf(user: string): Credentials {
  if (user === '') return {}
  const [username = '', password = ''] = user.split(/:(.*)/s).map(decoded)
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return fail()
  }
}

function fail(): never {
  throw new Error('redis.url: must be redis://…, redis+sentinel://…/name or redis+cluster://…')
}
