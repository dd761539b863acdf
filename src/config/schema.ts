/** The configuration (docs/contract-operators.md §9): one strict schema. Every scalar of the file is text here. */
import { z } from 'zod'
import { maxWeight } from '../domain/routing-settings.ts'
import { provider } from './provider-schema.ts'
import {
  allowedTarget,
  autoOr,
  baseUrlOrNone,
  choice,
  days,
  encryptionKey,
  flag,
  integer,
  keys,
  ledgerUrl,
  list,
  mapping,
  name,
  oneOrMore,
  operatorToken,
  optional,
  origin,
  port,
  proxy,
  proxyUrl,
  redisPrefix,
  redisUrl,
  required,
  seconds,
  section,
  setting,
  settingAsText,
  share,
  text,
} from './value-types.ts'

// Where the process listens.

const server = section(
  {
    host: setting(name, '127.0.0.1', 'Address; `0.0.0.0`: all of IPv4'),
    port: setting(port, 8080, 'Port; 0: a free one, printed'),
    workers: setting(
      autoOr(integer(1, 64), 'must be auto or an integer from 1 to 64'),
      1,
      'Processes at this port, or `auto`: one for each core. One more has operators and background work',
      'processes',
    ),
    trustProxy: setting(
      integer(0, 32),
      0,
      'Trusted proxies in front that append to `X-Forwarded-For`; 0 ignores the header',
      'hops',
    ),
    maxBodyBytes: setting(integer(1, 1_048_576), 16_384, 'Maximum request body; else 413', 'bytes'),
    connections: setting(
      integer(1, 1_000_000),
      10_000,
      "Maximum open connections ([past it](faults.md#overload)); below half of the system's limit of open files",
      'connections',
    ),
    connectionsPerAddress: optional(
      integer(1, 1_000_000),
      'The same per client address (IPv6: /64), [with `trustProxy` requests](contract-operators.md#7-limits-on-clients). None: a quarter, while over half of `connections` are in use',
    ),
    socketTimeout: setting(
      seconds('above 0'),
      75,
      'Timeout of an idle connection, and of reading a response; at least twice the longest `timeout` and `nativeIdle`',
      'seconds',
    ),
    keepAliveTimeout: setting(
      seconds('above 0'),
      66,
      'Idle time after a response, [longer than the balancer’s](deployment.md#idle-connections-of-a-balancer); `Keep-Alive` announces a second less',
      'seconds',
    ),
    drain: setting(seconds(), 10, '[Shutdown](contract-operators.md#13-the-process): wait for requests in flight', 'seconds'),
    shutdownDelay: setting(seconds(), 2, 'Shutdown: wait before that, for new connections', 'seconds'),
    cors: setting(
      list(origin),
      [],
      'Origins whose pages may read responses: `https://app.example`, `https://*.example.com` (every host below it), `capacitor://localhost`',
    ),
  },
  'The public port.',
)

const admin = section(
  {
    host: setting(name, '127.0.0.1', 'Address'),
    port: setting(port, 9090, 'Port; 0: a free one, printed'),
    tokens: setting(
      mapping(operatorToken),
      {},
      'Tokens of the [operator’s API and page](operating.md) by name: 32 characters or more, best from a file, or `{ token, roles }` ([roles](operating.md#roles)). None: neither, but [for the sandbox](operating.md)',
    ),
    keepSession: setting(
      flag,
      false,
      'On a phone the page [keeps](contract-operators.md#15-the-admin-api-and-page) tokens with the role `money`, too',
    ),
    hosts: setting(
      list(name),
      [],
      'Names for [`Host`](contract-operators.md#13-the-process), besides `localhost` and IP addresses',
    ),
  },
  'The port for operators: `/livez`, `/readyz` and `/metrics`. Never expose it to clients.',
)

// Settings of keys and limits.

const auth = section(
  {
    mode: setting(
      choice(['passthrough', 'managed']),
      'passthrough',
      '`passthrough`: keys of the provider. `managed`: [keys that you issue](keys.md)',
    ),
  },
  'The keys of clients.',
)

const limits = section(
  {
    quotes: setting(integer(1), 60, '`GET /currencies`, `GET /rate`, per client address', 'requests per window'),
    create: setting(integer(1), 30, '`POST /transactions`, per key', 'requests per window'),
    read: setting(integer(1), 120, '`GET /transactions`, `GET /transactions/{id}`, per key', 'requests per window'),
    streams: setting(
      integer(1),
      20,
      'Open [streams](events.md) of a key, or account; without `redis.url` in each process',
      'streams',
    ),
    unverified: setting(
      integer(1),
      120,
      'Requests with [unverified keys](limits.md#unverified-keys), from all addresses',
      'requests per 60 seconds',
    ),
    window: setting(integer(1, 86_400), 60, 'Length of the window, from its first request', 'seconds'),
    dryRun: setting(flag, false, 'Counts requests and sends the headers, but rejects none'),
  },
  'Limits on clients; past one it is 429 ([limits.md](limits.md)).',
)

// What the process reports.

const log = section(
  {
    level: setting(choice(['info', 'warn', 'error', 'silent']), 'info', 'Lowest level, or `silent`'),
    requests: setting(flag, true, 'Logs every request'),
    format: setting(choice(['auto', 'json', 'text']), 'auto', '`json`, `text`; `auto`: `text` on a terminal, else `json`'),
  },
  'One line per event on standard error ([observability.md](observability.md#the-log)).',
)

/** OpenTelemetry's names. The caller's sampling flag is ignored, so `parentbased_…` has no extra effect. */
const samplers = [
  'traceidratio',
  'parentbased_traceidratio',
  'always_on',
  'parentbased_always_on',
  'always_off',
  'parentbased_always_off',
] as const

const telemetry = section(
  {
    metrics: setting(flag, true, '`/metrics` counts requests and calls, not only the process'),
    accounts: setting(
      list(name.max(64, 'must have at most 64 characters').transform((account) => account.normalize())).max(
        100,
        'must name at most 100 accounts',
      ),
      [],
      'At most 100 with a label `account` at [requests and errors](observability.md#requests-of-clients)',
    ),
    endpoint: setting(baseUrlOrNone, '', 'OTLP over HTTP, like `http://127.0.0.1:4318`. Empty: no tracing'),
    tracesEndpoint: setting(baseUrlOrNone, '', 'For traces, as it is, without `/v1/traces`. Empty: `endpoint`'),
    disabled: setting(flag, false, 'Switches tracing off'),
    sampler: setting(
      choice(samplers),
      'traceidratio',
      'Keeps a share of the traces without an error, all (`always_on`), none (`always_off`)',
    ),
    ratio: setting(share, 0.01, 'That share; traces with 5xx are always kept'),
    queue: setting(integer(1), 2_048, 'Queue; further traces are dropped', 'spans'),
    batch: setting(integer(1), 512, 'Maximum per export request', 'spans'),
    delayMs: setting(integer(0), 5_000, 'Wait for a full batch', 'milliseconds'),
    timeoutMs: setting(integer(1), 2_000, 'Timeout of a batch, and of the rest at shutdown', 'milliseconds'),
    exportTimeoutMs: setting(integer(1), 30_000, 'Longest wait for the previous batch', 'milliseconds'),
  },
  'Metrics, and OpenTelemetry’s traces, read only at the start. `OTEL_…` variables set keys that the file lacks ([traces.md](traces.md)).',
)

const routing = required(
  keys({
    strategy: setting(
      choice(['priority', 'weighted', 'best']),
      'priority',
      '`priority`: the first available. `weighted`: by `weights`, the same one for a client. `best`: the best quote',
    ),
    providers: required(list(name).min(1, 'must name a provider'), 'Providers, in order; exactly one in passthrough mode'),
    untagged: setting(text, '', 'Provider of ids without a tag, from before the gateway. Empty: 404'),
    weights: optional(
      mapping(integer(0, maxWeight)),
      '`weighted`: the weight of each of `providers`, like `{ alpha: 90, beta: 10 }`; 0: no quotes or creates',
    ),
    pick: setting(list(name), [], 'Tags that a request with an issued key may choose by `X-Swap-Provider`'),
    patience: setting(
      seconds('from 0', 60),
      0.8,
      '`best`: how long others are awaited once a quote competes, from the beginning of the request',
      'seconds',
    ),
    roundAmounts: setting(
      choice(['refuse', 'down']),
      'refuse',
      'Create with more decimals than its asset: `refuse` is 400; `down` sends the amount below',
    ),
    maxDeviation: setting(
      share,
      0.1,
      "By which share a create may promise less than its provider's newest quote of the last minute, or another provider's quote to take it over ([rules](contract-operators.md#12-routing)). 0: any",
    ),
    refuseDeviation: setting(flag, false, 'Beyond `maxDeviation` a create is a mismatch: 502, and a person must look'),
    mirror: optional(
      keys({ provider: name, sample: share }),
      '`{ provider, sample }` repeats that share of the quotes there; it need not be in `providers`',
    ),
  }),
  'Which provider gets a request.',
)

// What the process stores, and for how long.

const redis = section(
  {
    url: setting(
      redisUrl,
      '',
      '`redis://…`, `redis+sentinel://…`, `redis+cluster://…`; `rediss…`: TLS ([each form](limits.md#where-redis-is)). Empty: each process counts alone',
    ),
    prefix: setting(redisPrefix, 'swapgate', 'Prefix of every key in Redis: one for each environment, the same for replicas'),
  },
  'Limits of clients and providers, shared by replicas. Redis 6 or later.',
)

const ledger = section(
  {
    url: setting(
      ledgerUrl,
      'sqlite:data/swapgate.db',
      '`sqlite:<file>`, relative to the working directory, or `postgres://user:password@host/database`',
    ),
    mustExist: setting(flag, false, 'A start without a ledger fails: set it after the first'),
    migrate: setting(
      choice(['auto', 'manual']),
      'auto',
      '`auto`: a start adds what the ledger lacks; `manual`: only `swapgate ledger migrate` does ([upgrades](ledger.md#upgrades))',
    ),
    maxConnections: setting(
      integer(9, 1_000),
      13,
      "Of each process to PostgreSQL, two for results of creates, three for reads. More where it is milliseconds away; in all below `max_connections`, or PgBouncer's pool",
      'connections',
    ),
    refreshAfter: setting(seconds(), 5, 'How long a read transaction is fresh', 'seconds'),
    reconcileFor: setting(seconds(), 86_400, 'How long to search for a create of unknown outcome', 'seconds'),
    keep: optional(days, 'Age at which ended swaps are [pruned](ledger.md#maintenance), like `400d`. None: never'),
    keepAudit: optional(
      days,
      'How long the [audit log](contract-operators.md#5-keys) is kept, like `400d`. None: the last million records',
    ),
  },
  'Transactions, their owners and their last known state ([ledger.md](ledger.md)).',
)

const events = section(
  {
    keep: settingAsText(days, '30d', 'How long they are kept, for streams that resume; the last one of an open swap stays'),
  },
  'Changes of swaps, as their owners see them ([events.md](events.md)).',
)

const cache = section(
  {
    currencies: setting(seconds(), 600, "How long until a provider's list is read again", 'seconds'),
    rate: setting(seconds(), 2, 'How long identical requests share a rate; 0: never', 'seconds'),
    staleFor: setting(
      seconds(),
      86_400,
      'How much longer it is served while the provider fails; its maximum age for creates to Form A (at least `currencies`)',
      'seconds',
    ),
  },
  'The cache of responses.',
)

const egress = section(
  {
    proxy: optional(
      proxy,
      '`http://user:password@host:port`, `environment` (`HTTPS_PROXY`, `NO_PROXY`) or `direct`. None: `direct`, with a warning if `HTTPS_PROXY` is set',
    ),
  },
  'The way out, to providers ([deployment.md](deployment.md#a-proxy-on-the-way-to-providers)).',
)

const sandboxLimits = section(
  {
    quotes: setting(
      integer(1),
      60,
      'Quotes and lists of coins, per address: of all that one gateway sends',
      'requests per 60 seconds',
    ),
    create: setting(integer(1), 30, 'Creates, per key', 'requests per 60 seconds'),
    read: setting(integer(1), 120, 'Lists and gets, per key', 'requests per 60 seconds'),
  },
  'Its own limits, which a load of yours may reach before those of the gateway',
)

const sandbox = section(
  {
    enabled: setting(flag, false, 'Runs the sandbox'),
    port: setting(port, 9101, 'Port, on loopback only; 0: a free one, printed'),
    data: setting(name, 'data/sandbox.db', 'SQLite file, relative to the working directory'),
    autoDeposit: setting(seconds(), 0, 'Until it pays each deposit itself; 0: never', 'seconds'),
    speed: setting(seconds(), 2, 'Time from one status to the next', 'seconds'),
    expiry: setting(seconds(), 1_200, 'Time without a deposit until it is overdue', 'seconds'),
    seed: setting(integer(0), 1, 'Seed of its prices'),
    limits: sandboxLimits,
  },
  'The built-in provider for development and rehearsals. Its keys are public.',
)

const exolix = section(
  {
    keyInQuery: setting(flag, false, 'Clients may send their key as `apiToken` in the query: proxies in front then log it'),
  },
  'The form of clients that speak Exolix ([contract](contract.md#162-the-exolix-client-form)).',
)

const creates = section(
  {
    requireIdempotencyKey: setting(
      flag,
      false,
      'A create without `Idempotency-Key` is 400: a client that repeats it would make a second swap. Not for clients of the form `exolix`',
    ),
  },
  'The creates of clients ([contract](contract.md#101-idempotency-key)).',
)

const webhooks = section(
  {
    key: setting(
      oneOrMore(encryptionKey, 'must be at least 32 bytes in base64, or a list of such'),
      [],
      'Encrypts their secrets: 32 bytes or more in base64 (`openssl rand -base64 32`), best from a file. Of a list the first encrypts, all decrypt. None: no webhook can be added',
    ),
    allow: setting(
      list(allowedTarget),
      [],
      'Open beside `https:` to public addresses: a network like `10.0.0.0/8` for `https:`; `http://host[:port]` for `http:` at any address, without a port on all',
    ),
    proxy: optional(
      proxyUrl,
      '`http://user:password@host:port`: it decides where they may go. None: directly, whatever the environment',
    ),
  },
  'Webhooks of accounts ([webhooks.md](webhooks.md)).',
)

const shape = {
  server,
  admin,
  defaultForm: setting(name, 'A', 'Form of a request that names none: `A`, `B`, `exolix`'),
  exolix,
  creates,
  docs: setting(flag, true, "Serves `/docs` and each form's `openapi.json`"),
  replicas: setting(
    integer(1),
    1,
    'Maximum that share limits, each with its workers; divides them [while Redis is lost](limits.md#while-redis-is-lost)',
    'gateways',
  ),
  auth,
  redis,
  ledger,
  events,
  limits,
  cache,
  assets: setting(name, 'assets.yaml', 'The asset table, relative to this file'),
  egress,
  webhooks,
  providers: required(mapping(provider), 'The providers behind the gateway, each under a name of your choice.'),
  routing,
  log,
  telemetry,
  sandbox,
}

/** The configuration file. */
export const schema = z.strictObject(shape, 'the file must be a mapping')

export type Settings = z.output<typeof schema>
export type ProviderSettings = Settings['providers'][string]
