/** ioredis: one client for a single node, for Sentinel and for Cluster. */
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { RedisAddress } from '../../domain/redis-url.ts'

/** A connection setup takes several commands, and only this timeout ends a command whose connection is lost. */
const commandTimeoutMs = 500
/** A connection with pending replies counts as dead after this time without a byte. */
const idleTimeoutMs = 2_000

const retry = (times: number): number => Math.min(50 * times, 250)

/** Never resends a command and never queues one without a connection: the callers have fallbacks. */
const options = {
  commandTimeout: commandTimeoutMs,
  connectTimeout: 1_000,
  socketTimeout: idleTimeoutMs,
  disconnectTimeout: 100,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  disableClientInfo: true,
  connectionName: 'swapgate',
} satisfies RedisOptions

/** Creates a client that is not yet connected. Commands fail at once until it is. */
export function createClient(address: RedisAddress): Redis | Cluster {
  const { kind, places: nodes, isEncrypted, credentials, sentinelCredentials, name, database } = address
  const access = { ...options, ...credentials, ...(isEncrypted && { tls: {} }) }
  if (kind === 'cluster') {
    return new Cluster([...nodes], {
      redisOptions: access,
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: retry,
      maxRedirections: 4,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      retryDelayOnTryAgain: 0,
      slotsRefreshTimeout: 1_000,
      slotsRefreshInterval: 2_000,
    })
  }
  const alone = { ...access, db: database, lazyConnect: true, enableOfflineQueue: false, retryStrategy: retry, reconnectOnError }
  if (kind === 'single') return new Redis({ ...alone, ...nodes[0] })
  const encrypted = isEncrypted && { enableTLSForSentinelMode: true, sentinelTLS: {} }
  const { username, password } = sentinelCredentials
  const sentinelCredentialOptions = {
    ...(username && { sentinelUsername: username }),
    ...(password && { sentinelPassword: password }),
  }
  return new Redis({
    ...alone,
    ...encrypted,
    ...sentinelCredentialOptions,
    sentinels: [...nodes],
    name,
    sentinelCommandTimeout: 1_000,
    sentinelRetryStrategy: retry,
  })
}

/** The node was a master and became a replica: its host name may now lead to another machine. */
function reconnectOnError({ message }: Error): boolean {
  return message.startsWith('READONLY')
}
