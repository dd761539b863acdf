/** The configuration (docs/contract.md §9): one strict schema. Every scalar of the file is text here. */
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
    host: setting(name, '127.0.0.1', 'Address to listen on; `0.0.0.0`: every IPv4 address'),
    port: setting(port, 8080, 'Port; 0 takes a free one and prints it'),
    workers: setting(
      autoOr(integer(1, 64), 'must be auto or an integer from 1 to 64'),
      1,
      'Processes that share the port: a number, or `auto` for one on each core; one more has the port of operators and the work in the background',
      'processes',
    ),
    trustProxy: setting(
      integer(0, 32),
      0,
      'Trusted proxies in front that append to `X-Forwarded-For`; 0 ignores the header',
      'hops',
    ),
    maxBodyBytes: setting(integer(1, 1_048_576), 16_384, 'Maximum request body; a larger one is 413', 'bytes'),
    connections: setting(
      integer(1, 1_000_000),
      10_000,
      "Maximum of open connections ([past it](faults.md#overload)), below half of the system's limit of open files",
      'connections',
    ),
    connectionsPerAddress: optional(
      integer(1, 1_000_000),
      'Maximum of open connections per client address (IPv6: per /64), [with `trustProxy` of requests in progress](contract.md#7-limits-on-clients). None: a quarter of `connections`, while more than half of these are in use',
    ),
    socketTimeout: setting(
      seconds('above 0'),
      75,
      'Idle timeout of a connection, and maximum time for a client to read a response; at least twice the longest `timeout` and `nativeIdle` of a provider',
      'seconds',
    ),
    keepAliveTimeout: setting(
      seconds('above 0'),
      66,
      'How long a connection stays open after a response; `Keep-Alive` announces a second less. [Longer than the balancer in front](deployment.md#idle-connections-of-a-balancer) keeps one',
      'seconds',
    ),
    drain: setting(seconds(), 10, 'At shutdown: maximum wait for requests in flight', 'seconds'),
    shutdownDelay: setting(
      seconds(),
      2,
      'At shutdown: how long new connections are accepted after `/readyz` changes to 503',
      'seconds',
    ),
    cors: setting(
      list(origin),
      [],
      'Origins whose pages may read responses, like `https://app.example`, `https://*.example.com` (every host below it), `capacitor://localhost`',
    ),
  },
  'The public port.',
)

const admin = section(
  {
    host: setting(name, '127.0.0.1', 'Address to listen on'),
    port: setting(port, 9090, 'Port; 0 takes a free one and prints it'),
    tokens: setting(
      mapping(operatorToken),
      {},
      'Tokens of the [operator’s API and page](operating.md): one for each name, 32 characters or more, best read from a file. `{ token, roles }`: one with [some roles](operating.md#roles); else it has all. None: no API and no page',
    ),
    hosts: setting(
      list(name),
      [],
      'Names that the port accepts in `Host`, besides `localhost` and IP addresses; `/livez`, `/readyz` and `/metrics` accept any',
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
      '`passthrough`: clients send keys of the provider. `managed`: [keys that you issue](keys.md)',
    ),
  },
  'The keys of clients.',
)

const limits = section(
  {
    quotes: setting(integer(1), 60, '`GET /currencies` and `GET /rate` together, per client address', 'requests per window'),
    create: setting(integer(1), 30, '`POST /transactions`, per key', 'requests per window'),
    read: setting(integer(1), 120, '`GET /transactions` and `GET /transactions/{id}` together, per key', 'requests per window'),
    streams: setting(
      integer(1),
      20,
      '[Streams of changes](events.md) of one key, or account, that are open at a time in each process',
      'streams',
    ),
    unverified: setting(
      integer(1),
      120,
      'Requests with [unverified keys](limits.md#unverified-keys), from all addresses together',
      'requests per 60 seconds',
    ),
    window: setting(integer(1, 86_400), 60, 'Length of the window; it begins with the first request', 'seconds'),
    dryRun: setting(flag, false, 'Counts requests and sends the headers, but rejects none: to try limits out'),
  },
  'Limits on clients; past one it is 429 ([limits.md](limits.md)).',
)

// What the process reports.

const log = section(
  {
    level: setting(choice(['info', 'warn', 'error', 'silent']), 'info', 'The lowest level that is logged, or `silent`'),
    requests: setting(flag, true, 'Whether to log every request'),
    format: setting(
      choice(['auto', 'json', 'text']),
      'auto',
      '`json`, `text`, or `auto`: `text` if standard error is a terminal, else `json`',
    ),
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
    metrics: setting(flag, true, 'Whether `/metrics` counts requests and calls, beside the metrics of the process'),
    accounts: setting(
      list(name.max(64, 'must have at most 64 characters').transform((account) => account.normalize())).max(
        100,
        'must name at most 100 accounts',
      ),
      [],
      'At most 100 accounts that have a label `account` at the [counters of requests and errors](observability.md#requests-of-clients)',
    ),
    endpoint: setting(baseUrlOrNone, '', 'Collector for OTLP over HTTP, like `http://127.0.0.1:4318`. Empty: no tracing'),
    tracesEndpoint: setting(baseUrlOrNone, '', 'For traces alone, used as it is, without `/v1/traces`. Empty: `endpoint`'),
    disabled: setting(flag, false, 'Switches tracing off, also with an endpoint'),
    sampler: setting(
      choice(samplers),
      'traceidratio',
      'Which traces without an error are kept: a share, all (`always_on`) or none (`always_off`)',
    ),
    ratio: setting(share, 0.01, 'The share of these that is kept; traces that end in 5xx always are'),
    queue: setting(integer(1), 2_048, 'Maximum of the queue; further traces are dropped', 'spans'),
    batch: setting(integer(1), 512, 'Maximum per export request', 'spans'),
    delayMs: setting(integer(0), 5_000, 'How long a span waits for a full batch', 'milliseconds'),
    timeoutMs: setting(integer(1), 2_000, 'Timeout to send a batch, and to send the rest at shutdown', 'milliseconds'),
    exportTimeoutMs: setting(
      integer(1),
      30_000,
      'Time after which the next batch no longer waits for the previous one',
      'milliseconds',
    ),
  },
  'Metrics, and traces in OpenTelemetry. Read only at the start. `OTEL_…` variables set keys that the file lacks ([traces.md](traces.md)).',
)

const routing = required(
  keys({
    strategy: setting(
      choice(['priority', 'weighted', 'best']),
      'priority',
      '`priority`: the first available of `providers`. `weighted`: by `weights`, the same one for a client. `best`: the best quote',
    ),
    providers: required(list(name).min(1, 'must name a provider'), 'Names of providers, in order; exactly one in passthrough mode'),
    untagged: setting(text, '', 'The provider of ids without a tag, from before the gateway. Empty: such ids are 404'),
    weights: optional(
      mapping(integer(0, maxWeight)),
      'With `weighted`: the weight of each of `providers`, like `{ alpha: 90, beta: 10 }`; with 0 it gets no quotes and no creates',
    ),
    pick: setting(list(name), [], 'Tags of providers that a request with an issued key may choose with `X-Swap-Provider`'),
    patience: setting(
      seconds('from 0', 60),
      0.8,
      'With `best`: how long slower providers are awaited once one has quoted, from the beginning of the request',
      'seconds',
    ),
    roundAmounts: setting(
      choice(['refuse', 'down']),
      'refuse',
      'An amount of a create with more decimals than its asset has: `refuse` is 400; `down` sends the amount below',
    ),
    maxDeviation: setting(
      share,
      0.1,
      "By which share a create may promise less than its provider's newest quote of the last minute: more is counted, and [under `best`](contract.md#12-routing) counts against that provider; at a fixed rate there it is not taken. Also by which share another provider's quote may be less, to take a create that its provider turns away. 0: any",
    ),
    refuseDeviation: setting(flag, false, 'Whether a create beyond `maxDeviation` is a mismatch: 502, and a person must look'),
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
      '`redis://…`, `redis+sentinel://…` or `redis+cluster://…`; `rediss…` is TLS ([each form](limits.md#where-redis-is)). Empty: each process keeps its own limits in memory',
    ),
    prefix: setting(
      redisPrefix,
      'swapgate',
      'The beginning of every key in Redis: one for each environment, the same for replicas',
    ),
  },
  'Limits of clients and of providers that replicas share. Redis 6 or later.',
)

const ledger = section(
  {
    url: setting(
      ledgerUrl,
      'sqlite:data/swapgate.db',
      '`sqlite:<file>`, relative to the working directory, or `postgres://user:password@host/database`, which replicas share',
    ),
    mustExist: setting(
      flag,
      false,
      'Whether a start fails if the ledger does not exist, as on a volume that is not mounted. First start once without it',
    ),
    migrate: setting(
      choice(['auto', 'manual']),
      'auto',
      '`auto`: a start makes the ledger, or adds what this version needs. `manual`: only `swapgate ledger migrate` does ([upgrades](ledger.md#upgrades))',
    ),
    maxConnections: setting(
      integer(9, 1_000),
      13,
      'The most connections of each process to PostgreSQL, two of them kept for results of creates and three for reads. More where PostgreSQL is milliseconds away; all processes together stay below `max_connections`, or the pool of PgBouncer',
      'connections',
    ),
    refreshAfter: setting(seconds(), 5, 'How long a transaction read from a provider counts as fresh', 'seconds'),
    reconcileFor: setting(seconds(), 86_400, 'How long the gateway searches for a create with an unknown outcome', 'seconds'),
    keep: optional(
      days,
      'How long ended swaps are kept, like `400d`; then they are [pruned](ledger.md#maintenance). Not set: for good',
    ),
    keepAudit: optional(
      days,
      'How long the audit log is kept, like `400d`; never shorter than something that needs a person. Not set: the last million records',
    ),
  },
  'Transactions, their owners and their last known state ([ledger.md](ledger.md)).',
)

const events = section(
  {
    keep: settingAsText(
      days,
      '30d',
      'How long the changes of swaps are kept, like `90d`, for [streams](events.md) that go on where they were; the last one of an open swap stays',
    ),
  },
  'Changes of swaps, as their owners see them ([events.md](events.md)).',
)

const cache = section(
  {
    currencies: setting(seconds(), 600, "How long a provider's list of currencies is served before it is read again", 'seconds'),
    rate: setting(seconds(), 2, 'How long a rate is served again to identical requests; 0: never', 'seconds'),
    staleFor: setting(
      seconds(),
      86_400,
      'How much longer an old list is served while the provider fails. Also its maximum age for a create to Form A (at least `currencies`)',
      'seconds',
    ),
  },
  'The cache of responses.',
)

const egress = section(
  {
    proxy: optional(
      proxy,
      'Proxy for calls over `https`: `http://user:password@host:port`, `environment` (`HTTPS_PROXY` and `NO_PROXY`), or `direct`. None: `direct`, with a warning if the environment has `HTTPS_PROXY`',
    ),
  },
  'The way out, to providers ([deployment.md](deployment.md#a-proxy-on-the-way-to-providers)).',
)

const sandbox = section(
  {
    enabled: setting(flag, false, 'Whether the sandbox runs'),
    port: setting(port, 9101, 'Port, on loopback only; 0 takes a free one and prints it'),
    data: setting(name, 'data/sandbox.db', 'Its SQLite file, relative to the working directory'),
    autoDeposit: setting(seconds(), 0, 'After which it pays each deposit itself; 0: never', 'seconds'),
    speed: setting(seconds(), 2, 'Time from one status to the next', 'seconds'),
    expiry: setting(seconds(), 1_200, 'Time without a deposit after which a transaction is overdue', 'seconds'),
    seed: setting(integer(0), 1, 'Seed of the random walk of its prices'),
  },
  'The built-in provider for development and rehearsals. Its keys are public.',
)

const exolix = section(
  {
    keyInQuery: setting(
      flag,
      false,
      'Whether clients may send their key as `apiToken` in the query too, as some wallets do: then proxies in front log it',
    ),
  },
  'The form of clients that speak Exolix ([contract](contract.md#162-the-exolix-client-form)).',
)

const webhooks = section(
  {
    key: setting(
      oneOrMore(encryptionKey, 'must be at least 32 bytes in base64, or a list of such'),
      [],
      'Encrypts the secrets of webhooks in the ledger: at least 32 bytes in base64 (`openssl rand -base64 32`), best read from a file. Of a list the first encrypts, all decrypt. None: no webhook can be added',
    ),
    allow: setting(
      list(allowedTarget),
      [],
      'What is open beside `https:` to public addresses: a network like `10.0.0.0/8` for `https:`; `http://host[:port]` for `http:`, whatever its address, without a port on every port',
    ),
    proxy: optional(
      proxyUrl,
      'Proxy for all webhooks: `http://user:password@host:port`; it decides where they may go. None: they are sent directly, whatever the environment says',
    ),
  },
  'Webhooks of accounts ([webhooks.md](webhooks.md)).',
)

const shape = {
  server,
  admin,
  defaultForm: setting(name, 'A', 'The form of a request that does not name one: `A`, `B` or another form of clients'),
  exolix,
  docs: setting(flag, true, 'Whether `/docs` and the `openapi.json` of each form are served'),
  replicas: setting(
    integer(1),
    1,
    'The most gateways that share limits, each with its workers: among so many limits are divided [while Redis is lost](limits.md#while-redis-is-lost) and it is not known how many run',
    'gateways',
  ),
  auth,
  redis,
  ledger,
  events,
  limits,
  cache,
  assets: setting(name, 'assets.yaml', 'File of the asset table, relative to this file'),
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
