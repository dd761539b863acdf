/** The configuration (docs/contract.md §9): one strict schema. Every scalar of the file is text here. */
import { z } from 'zod'
import { provider } from './provider-schema.ts'
import {
  baseUrlOrNone,
  choice,
  flag,
  integer,
  keys,
  ledgerUrl,
  list,
  mapping,
  name,
  optional,
  origin,
  port,
  redisPrefix,
  redisUrl,
  required,
  seconds,
  section,
  setting,
  share,
  text,
  token,
} from './value-types.ts'

// Where the process listens.

const server = section(
  {
    host: setting(name, '127.0.0.1', 'Address to listen on; `0.0.0.0` is every IPv4 address of the machine'),
    port: setting(port, 8080, 'Port to listen on; 0 takes a free port and prints it'),
    trustProxy: setting(
      integer(0, 32),
      0,
      'Number of trusted proxies in front that append to `X-Forwarded-For`; 0 ignores the header',
      'hops',
    ),
    maxBodyBytes: setting(integer(1, 1_048_576), 16_384, 'Maximum size of a request body; a larger one gets 413', 'bytes'),
    connections: setting(
      integer(1, 1_000_000),
      10_000,
      'Maximum number of open connections. For one more the oldest request that has not arrived whole is ended; if there is none, the new one is closed at once. Keep it below half of the limit of open files of the system',
      'connections',
    ),
    connectionsPerAddress: optional(
      integer(1, 1_000_000),
      'Maximum number of open connections per client address (IPv6: per /64); further ones are closed. Not set: a quarter of `connections`, and only while more than half of these are in use. With `trustProxy` the connections are those of proxies and are not counted by address: then it is the maximum number of requests in progress per client address, and one too many is 429',
    ),
    socketTimeout: setting(
      seconds('above 0'),
      75,
      'Idle timeout of a connection, and maximum time for a client to read a response. If twice the longest `timeout` of a provider is longer, that applies; so does twice the `nativeIdle` of a provider with `native` paths',
      'seconds',
    ),
    drain: setting(seconds(), 10, 'At shutdown: maximum wait for requests in flight', 'seconds'),
    grace: setting(
      seconds(),
      2,
      'At shutdown: how long the gateway accepts new connections after `/readyz` changes to 503, so that a load balancer can react',
      'seconds',
    ),
    cors: setting(
      list(origin),
      [],
      'Origins whose pages may read responses, like `https://app.example`, `https://*.example.com` (every host below it), or that of an app: `capacitor://localhost`. Empty: no CORS headers are sent',
    ),
  },
  'The public port.',
)

const admin = section(
  {
    host: setting(name, '127.0.0.1', 'Address to listen on'),
    port: setting(port, 9090, 'Port to listen on; 0 takes a free port and prints it'),
    tokens: setting(
      mapping(token),
      {},
      'Tokens of the operator’s API and page on this port: one for each name, 32 characters or more, best read from a file. None: there is no API and no page',
    ),
    hosts: setting(
      list(name),
      [],
      'Names that the port accepts in `Host`, besides `localhost` and IP addresses. This prevents DNS rebinding by web pages. `/livez`, `/readyz` and `/metrics` accept any name',
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
      'Which keys clients send. `passthrough`: keys of the provider. `managed`: keys that you issue with `swapgate keys`',
    ),
  },
  'The keys of clients.',
)

const limits = section(
  {
    quotes: setting(integer(1), 60, '`GET /currencies` and `GET /rate` together, per client address', 'requests per window'),
    create: setting(integer(1), 30, '`POST /transactions`, per key', 'requests per window'),
    read: setting(integer(1), 120, '`GET /transactions` and `GET /transactions/{id}` together, per key', 'requests per window'),
    unproven: setting(
      integer(1),
      120,
      'Requests with unverified keys, from all addresses together. Above it, addresses with a rejected key in the last minute get 429; above five times it, every unverified key gets 429',
      'requests per 60 seconds',
    ),
    window: setting(integer(1, 86_400), 60, 'Length of the window; it begins with the first request', 'seconds'),
    replicas: setting(
      integer(1),
      1,
      'Number of processes that share the limits and budgets. While Redis is unavailable, each process uses its fraction of them',
      'processes',
    ),
    shadow: setting(flag, false, 'Counts requests and sends the headers, but rejects no request: to try limits out'),
  },
  'Limits on clients. A request above a limit gets 429.',
)

// What the process reports.

const log = section(
  {
    level: setting(
      choice(['info', 'warn', 'error', 'silent']),
      'info',
      'The lowest level that is logged. `warn`: errors of providers. `error`: errors of the gateway',
    ),
    requests: setting(flag, true, 'Whether to log every request'),
  },
  'Logs: one line of JSON per event on standard error; readable text if that is a terminal.',
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
    metrics: setting(flag, true, 'Whether `/metrics` counts requests and calls; if not, it has only the metrics of the process'),
    endpoint: setting(
      baseUrlOrNone,
      '',
      'Base URL of a collector for OTLP over HTTP, like `http://127.0.0.1:4318`. Empty: no tracing',
    ),
    disabled: setting(flag, false, 'Switches tracing off, also with an endpoint'),
    sampler: setting(
      choice(samplers),
      'traceidratio',
      'Which traces without an error are kept: a `ratio`, all or none. The sampling flag of the caller is ignored',
    ),
    ratio: setting(share, 0.01, 'The share of traces without an error that is kept; traces that end in 5xx are always kept'),
    queue: setting(integer(1), 2_048, 'Maximum number of spans in the queue; further traces are dropped', 'spans'),
    batch: setting(integer(1), 512, 'Maximum number of spans per export request', 'spans'),
    delayMs: setting(integer(0), 5_000, 'How long a span waits for a full batch', 'milliseconds'),
    timeoutMs: setting(integer(1), 2_000, 'Timeout to send a batch, and to send the rest at shutdown', 'milliseconds'),
    exportTimeoutMs: setting(
      integer(1),
      30_000,
      'Time after which the next batch no longer waits for the previous one',
      'milliseconds',
    ),
  },
  'Metrics, and traces in OpenTelemetry. Read only at the start. An `OTEL_…` variable can set a key that the file does not ' +
    'have ([traces.md](traces.md)).',
)

const routing = required(
  keys({
    strategy: setting(
      choice(['priority', 'weighted', 'best']),
      'priority',
      'Which provider gets a quote or a create. `priority`: the first available of `providers`. `weighted`: by `weights`, always the same one for a client. `best`: the one that quotes the highest amount received',
    ),
    providers: required(list(name).min(1, 'must name a provider'), 'Names of providers, in order; exactly one in passthrough mode'),
    untagged: setting(
      text,
      '',
      'The provider of transactions whose ids have no tag, from before the gateway. Empty: such ids get 404',
    ),
    weights: optional(
      mapping(integer(0, 1000)),
      'With `weighted`: the weight of each provider of `providers`, like `{ alpha: 90, beta: 10 }`; a provider with 0 gets no quotes and no creates',
    ),
    pick: setting(
      list(name),
      [],
      'Tags of providers that a request with an issued key may choose with `X-Swap-Provider`, even with weight 0. No effect in passthrough mode',
    ),
    patienceMs: setting(
      integer(0, 60_000),
      800,
      'With `best`: how long to wait for slower providers after the request began, if the quote of at least one competes',
      'milliseconds',
    ),
    roundAmounts: setting(
      choice(['refuse', 'down']),
      'refuse',
      'A create whose amount has more decimals than its asset in the asset table: `refuse` is 400, which names the nearest amounts; `down` sends the amount below, and `X-Swap-Derived` names it',
    ),
    maxDeviation: setting(
      share,
      0.1,
      'By which share a create may promise less than the newest quote of its provider for the same request in the last minute: more is counted, and under `best` it counts against the next quotes of that provider. Also: by which share the quote of another provider may be less than the last one of the client, for it to take a create that its provider turns away. 0: any',
    ),
    refuseDeviation: setting(flag, false, 'Whether such a create is a mismatch: the client gets 502, and a person must look'),
    shadow: optional(
      keys({ provider: name, sample: share }),
      'A provider to compare: `{ provider, sample }` repeats that share of the quotes there, without effect on clients. It need not be in `providers`',
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
      '`redis://user:password@host:port/database`, `redis+sentinel://host:port,host:port/name` (the sentinels and the name of the group; `?sentinel=user:password` if they require a password) or `redis+cluster://host:port,host:port` (some nodes); `rediss…` uses TLS. Empty: each process keeps its own limits in memory',
    ),
    prefix: setting(
      redisPrefix,
      'swapgate',
      'The beginning of every key in Redis, before a colon: gateways of several environments on one Redis need one each, the replicas of one the same',
    ),
  },
  'Limits and budgets that replicas share. Redis 6 or later.',
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
      'Whether a start fails if the ledger does not exist yet: against a volume that is not mounted, or another working directory. First start once without it',
    ),
    refresh: setting(seconds(), 5, 'How long a transaction read from a provider counts as fresh', 'seconds'),
    reconcile: setting(seconds(), 86_400, 'How long the gateway searches for a create with an unknown outcome', 'seconds'),
  },
  'The store of transactions, their owners and their last known state.',
)

const cache = section(
  {
    currencies: setting(seconds(), 600, "How long a provider's list of currencies is served before it is read again", 'seconds'),
    rate: setting(
      seconds(),
      2,
      'How long a rate is served again to identical requests; 0 calls the provider for each request',
      'seconds',
    ),
    staleFor: setting(
      seconds(),
      86_400,
      'How much longer an old list of currencies is served while the provider fails. Also the maximum age of the list for a create to Form A (`currencies`, if that is longer)',
      'seconds',
    ),
  },
  'The cache of responses.',
)

const sandbox = section(
  {
    enabled: setting(flag, false, 'Whether the sandbox runs'),
    port: setting(port, 9101, 'Port to listen on, on loopback only; 0 takes a free port and prints it'),
    data: setting(name, 'data/sandbox.db', 'Its SQLite file, relative to the working directory'),
    autoDeposit: setting(seconds(), 0, 'Time after which the sandbox pays each deposit itself; 0: never', 'seconds'),
    speed: setting(seconds(), 2, 'Time from one status to the next', 'seconds'),
    expiry: setting(seconds(), 1_200, 'Time without a deposit after which a transaction is overdue', 'seconds'),
    seed: setting(integer(0), 1, 'Seed of the random walk of its prices'),
  },
  'The built-in provider for development and rehearsals. Its keys are public.',
)

const shape = {
  server,
  admin,
  defaultForm: setting(name, 'A', 'The form of a request that does not name one: `A`, `B` or another form of clients'),
  docs: setting(flag, true, 'Whether `/docs` and the `openapi.json` of each form are served'),
  auth,
  redis,
  ledger,
  limits,
  cache,
  assets: setting(name, 'assets.yaml', 'File of the asset table, relative to this file'),
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
