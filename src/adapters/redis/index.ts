/** ioredis: the shared store of limits, verified keys and budgets. A script that times out has no effect later. */
import { once } from 'node:events'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import {
  AbstractConnector,
  Cluster,
  Redis,
  type RedisOptions,
  ReplyError,
  type SentinelConnectionOptions,
  SentinelConnector,
  SentinelIterator,
} from 'ioredis'
import { withTimeout } from '../../domain/async.ts'
import { type Endpoint, parseRedisUrl, type RedisAddress } from '../../domain/redis-url.ts'
import type { OnTrouble } from '../../domain/store-trouble.ts'
import { redisTroubleOf } from './diagnosis.ts'
import { type Script, ScriptBatches } from './script-batch.ts'
import { ScriptDeadlines } from './script-deadline.ts'

export interface Connection {
  /** The beginning of every key, before a colon. */
  readonly prefix: string
  /** Prepares a script whose reply is a list of integers. In the script, `now` is the clock of Redis in milliseconds, and `call` that of Redis. */
  readonly script: (lua: string, numberOfKeys: number) => Script
  /** A number that changes when Redis has lost its data. Throws also if one of the commands is missing that the scripts need. */
  readonly dataId: () => Promise<number>
  /** Calls the listener each time the connection ends. */
  readonly onLoss: (listener: () => void) => void
  readonly close: () => void
}

const connectTimeoutMs = 1_000

const dataIdScript = `
call('SET', KEYS[1], ARGV[1], 'NX')
return {tonumber(call('GET', KEYS[1]))}`

/** Each other command of `stores.ts`: what is missing is told at the start, not by the first create. Leaves nothing. */
const probeScript = `
call('INCRBY', KEYS[1], 2)
call('DECRBY', KEYS[1], 1)
call('PEXPIRE', KEYS[1], 1)
call('PTTL', KEYS[1])
call('ZADD', KEYS[2], 1, 'probe')
call('ZCARD', KEYS[2])
call('ZCOUNT', KEYS[2], 1, 1)
call('ZRANGE', KEYS[2], 0, 0)
call('ZRANGEBYSCORE', KEYS[2], 1, 1)
call('ZREMRANGEBYSCORE', KEYS[2], 0, 0)
call('ZREM', KEYS[2], 'probe')
return {}`

/**
 * Resolves when connected, or after a second: if Redis is down, the client keeps trying in the background. `onTrouble` gets each try that fails, and each
 * script that Redis refuses.
 */
export async function openRedis(
  url: string,
  prefix: string,
  lookup: LookupFunction,
  onTrouble: OnTrouble = () => {},
): Promise<Connection> {
  const address = parseRedisUrl(url)
  const client = createClient(address, lookup)
  // Without a listener the event would end the process.
  const report = (reason: unknown): void => onTrouble(redisTroubleOf(reason, address, prefix))
  let isRefused = false
  client.on('close', () => {
    isRefused = false
  })
  // Without a listener the event would end the process.
  client.on('error', (reason: unknown) => {
    // Redis has said why it closes the connection.
    if (isRefused && !(reason instanceof ReplyError)) return
    isRefused = reason instanceof ReplyError
    report(reason)
    // ioredis would go on in database 0, with the counts of another gateway.
    if (isOfCommand(reason, 'select')) client.once('ready', () => client.disconnect(true))
  })
  // ioredis asks before, and goes on without a word to us if it may not.
  client.on('ready', () => void client.info('server').catch((reason) => isOfCommand(reason, 'info') && report(reason)))
  await connected(client)
  const batches = new ScriptBatches(client, new ScriptDeadlines(), report)
  const script: Connection['script'] = (lua, numberOfKeys) => batches.script(lua, numberOfKeys)
  const [dataId, probe] = [script(dataIdScript, 1), script(probeScript, 2)]
  return {
    prefix,
    script,
    async dataId() {
      const [id = 0] = await dataId([`${prefix}:data-id`], [randomDataId()])
      // The first call of a connection is an EVAL, and this one an EVALSHA.
      await probe([`${prefix}:{probe}:count`, `${prefix}:{probe}:set`], [])
      return id
    },
    onLoss: (listener) => void client.on('close', listener),
    close: () => client.disconnect(),
  }
}

/** Whether Redis has refused this command. */
function isOfCommand(reason: unknown, name: string): boolean {
  return reason instanceof ReplyError && (reason as { readonly command?: { readonly name: string } }).command?.name === name
}

/** Random, so that the process that marks an emptied store notices the change too. */
function randomDataId(): string {
  return String(Math.floor(Math.random() * 2 ** 48) + 1)
}

async function connected(client: Redis | Cluster): Promise<void> {
  // Connect all nodes of a cluster now: by default a node connects with its first command, which would time out.
  client.on('+node', (node: Redis) => void node.connect().catch(() => {}))
  const connecting = client.connect().then(() => Promise.all(client instanceof Cluster ? client.nodes('master').map(ready) : []))
  const never = new Promise<never>(() => {}) // after a failure the client keeps trying
  await withTimeout(
    connecting.catch(() => never),
    connectTimeoutMs,
    () => {},
  )
}

async function ready(node: Redis): Promise<void> {
  if (node.status !== 'ready') await once(node, 'ready')
}

// ioredis: one client for a single node, for Sentinel and for Cluster.

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
  // With few commands at the start of a connection: while one has no reply, ioredis keeps back what Redis says to another.
  protocol: 2,
  disableClientInfo: true,
} satisfies RedisOptions

/** Creates a client that is not yet connected. Commands fail at once until it is. `lookup`: for the names of its servers. */
export function createClient(address: RedisAddress, lookup: LookupFunction): Redis | Cluster {
  const { kind, endpoints: nodes, isEncrypted, credentials, sentinelCredentials, name, database } = address
  const access = { ...options, ...credentials, ...(isEncrypted && { tls: { lookup } }), Connector: connectorWith(lookup) }
  if (kind === 'cluster') {
    return new Cluster([...nodes], {
      redisOptions: access,
      lazyConnect: true,
      dnsLookup: (hostname, done) => lookup(hostname, {}, (reason, address) => done(reason, String(address))),
      enableOfflineQueue: false,
      // What CLUSTER INFO says the replies say too, and a refused one would be kept back.
      enableReadyCheck: false,
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
  const sentinelLookup = isEncrypted
    ? { enableTLSForSentinelMode: true, sentinelTLS: { lookup }, Connector: encryptedSentinelConnector }
    : { Connector: plainSentinelConnector(lookup), natMap: withLookup(lookup) }
  const { username, password } = sentinelCredentials
  const sentinelCredentialOptions = {
    ...(username && { sentinelUsername: username }),
    ...(password && { sentinelPassword: password }),
  }
  return new Redis({
    ...alone,
    ...sentinelLookup,
    ...sentinelCredentialOptions,
    sentinels: [...nodes],
    name,
    sentinelCommandTimeout: 1_000,
    sentinelRetryStrategy: retry,
  })
}

/** The connector of ioredis passes a look-up on only over TLS. */
function connectorWith(lookup: LookupFunction): NonNullable<RedisOptions['Connector']> {
  return class extends AbstractConnector {
    private readonly options: RedisOptions

    constructor(given: unknown) {
      super(options.disconnectTimeout)
      this.options = given as RedisOptions
    }

    async connect(): Promise<Socket> {
      const { host = 'localhost', port = 6379, tls } = this.options
      this.connecting = true
      const socket = withErrorListener(tls ? connectTls({ host, port, ...tls }) : connect({ host, port, lookup }))
      socket.once('error', (reason) => {
        this.firstError = reason
      })
      this.stream = socket
      return socket
    }
  }
}

/** Its connections to sentinels get no look-up either: so they get addresses. */
function plainSentinelConnector(lookup: LookupFunction): NonNullable<RedisOptions['Connector']> {
  return class extends SentinelConnector {
    private readonly sentinels: AddressedSentinels

    constructor(given: unknown) {
      super(given as SentinelConnectionOptions)
      this.sentinels = new AddressedSentinels(this.options.sentinels ?? [], lookup)
      this.sentinelIterator = this.sentinels
    }

    override async connect(...given: Parameters<SentinelConnector['connect']>): ReturnType<SentinelConnector['connect']> {
      await this.sentinels.lookUpAll()
      return withErrorListener(await super.connect(...given))
    }
  }
}

const encryptedSentinelConnector: NonNullable<RedisOptions['Connector']> = class extends SentinelConnector {
  constructor(given: unknown) {
    super(given as SentinelConnectionOptions)
  }

  override async connect(...given: Parameters<SentinelConnector['connect']>): ReturnType<SentinelConnector['connect']> {
    return withErrorListener(await super.connect(...given))
  }
}

/** ioredis listens to one `error` of a socket. A second, as an alert after the end of a TLS handshake, would end the process. */
function withErrorListener<S extends Socket>(socket: S): S {
  return socket.on('error', () => {})
}

/** The master's endpoint as the sentinels report it, which may be a name: ioredis connects with these options. */
function withLookup(lookup: LookupFunction): (endpoint: string) => Endpoint {
  return (endpoint) => {
    const colon = endpoint.lastIndexOf(':')
    const options = { host: endpoint.slice(0, colon), port: Number(endpoint.slice(colon + 1)), lookup }
    return options
  }
}

type Sentinel = ConstructorParameters<typeof SentinelIterator>[0][number]

class AddressedSentinels extends SentinelIterator {
  private readonly lookup: LookupFunction
  private readonly hosts: readonly string[]
  private readonly addresses = new Map<string, readonly string[]>()
  /** The current sentinel at its other addresses. */
  private others: readonly Sentinel[] = []

  constructor(sentinels: Sentinel[], lookup: LookupFunction) {
    super(sentinels)
    this.lookup = lookup
    this.hosts = sentinels.flatMap(({ host = [] }) => host)
  }

  async lookUpAll(): Promise<void> {
    await Promise.all(this.hosts.map((host) => this.lookUp(host)))
  }

  /** Each use of a name looks it up again for the next one. */
  override next(): ReturnType<SentinelIterator['next']> {
    const [other, ...others] = this.others
    this.others = others
    if (other) return { done: false, value: other }
    const next = super.next()
    if (next.done) return next
    const { host = '' } = next.value
    if (isIP(host) !== 0) return next
    void this.lookUp(host)
    this.others = (this.addresses.get(host) ?? []).map((address) => ({ ...next.value, host: address }))
    return this.next()
  }

  override reset(moveCurrentEndpointToFirst: boolean): void {
    this.others = []
    super.reset(moveCurrentEndpointToFirst)
  }

  private lookUp(host: string): Promise<void> {
    return new Promise((resolve) =>
      this.lookup(host, { all: true }, (reason, found) => {
        if (reason || typeof found === 'string') this.addresses.delete(host)
        else
          this.addresses.set(
            host,
            found.map(({ address }) => address),
          )
        resolve()
      }),
    )
  }
}

/** The node was a master and became a replica: its host name may now lead to another machine. */
function reconnectOnError({ message }: Error): boolean {
  return message.startsWith('READONLY')
}
