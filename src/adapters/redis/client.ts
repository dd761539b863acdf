/** ioredis: one client for a single node, for Sentinel and for Cluster. */
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { RedisAddress } from '../../domain/redis-url.ts'

/** Milliseconds. Connecting takes several commands, and nothing else ends one that is lost with its connection. */
const commandTimeoutMs = 500
/** Milliseconds without a byte, after which a connection that owes answers counts as dead. */
const idleTimeoutMs = 2_000

const retry = (times: number): number => Math.min(50 * times, 250)

/** What was not answered is never sent again, and nothing waits for a connection: whoever asks has a better answer. */
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

/** Not connected yet. Commands fail at once while it is not. */
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

/** A master that became a replica: its name may lead to another machine by now. */
function reconnectOnError({ message }: Error): boolean {
  return message.startsWith('READONLY')
}
