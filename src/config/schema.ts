/** The configuration (docs/contract.md §9): one strict schema. Every scalar of the file is text here. */
import { z } from 'zod'
import { checksums } from '../domain/address/checksum.ts'
import type { MemoRule } from '../domain/address/rule.ts'
import type { ExtraIds } from '../domain/swap/extra-ids.ts'
import { providerStates } from '../domain/swap/provider-state.ts'
import { statuses } from '../domain/swap/status.ts'
import {
  amount,
  baseUrl,
  baseUrlOrNone,
  choice,
  flag,
  integer,
  keys,
  list,
  mapping,
  name,
  oneOrMore,
  origin,
  pattern,
  port,
  redisUrl,
  seconds,
  share,
  text,
  token,
} from './value-types.ts'

/** Documents a key in `docs/configuration.md`. */
export interface Description {
  readonly description: string
  readonly unit?: string
  /** The value if the file has no such key. Absent: the key is required, or is a section. */
  readonly defaultValue?: unknown
}

function setting<T extends z.ZodType>(kind: T, defaultValue: z.output<T>, description: string, unit = '') {
  return kind.default(defaultValue as never).meta({ description, unit, defaultValue } satisfies Description)
}

function required<T extends z.ZodType>(kind: T, description: string) {
  return kind.meta({ description } satisfies Description)
}

function optional<T extends z.ZodType>(kind: T, description: string) {
  return kind.optional().meta({ description, defaultValue: null } satisfies Description)
}

/** A section in which every key has a default, so that the file may omit it. */
function section<T extends z.ZodRawShape>(shape: T, description: string) {
  return keys(shape)
    .prefault({} as never)
    .meta({ description } satisfies Description)
}

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
      'Maximum number of open connections; further ones are closed at once. Keep it below half of the limit of open files of the system',
      'connections',
    ),
    connectionsPerAddress: optional(
      integer(1, 1_000_000),
      'Maximum number of open connections per client address (IPv6: per /64); further ones are closed at once. Not set: 90 % of `connections`. Applies only if `trustProxy` is 0: behind a proxy all connections come from the proxy',
    ),
    socketTimeout: setting(
      seconds('above 0'),
      75,
      'Idle timeout of a connection, and maximum time for a client to read a response. If twice the longest `timeout` or `nativeIdle` of a provider is longer, that applies',
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
      'Origins whose pages may read responses, like `https://app.example`. Empty: no CORS headers are sent',
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
      'Who may use the operator’s API and page on this port: a token for each name, 32 characters or more, best read from a file. None: there is no API and no page',
    ),
    hosts: setting(
      list(name),
      [],
      'Names that the port accepts in `Host`, besides `localhost` and IP addresses. This prevents DNS rebinding by web pages. `/livez`, `/readyz` and `/metrics` accept any name',
    ),
  },
  'The port for operators: `/livez`, `/readyz` and `/metrics`. Never expose it to clients.',
)

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

const redis = section(
  {
    url: setting(
      redisUrl,
      '',
      '`redis://user:password@host:port/database`, `redis+sentinel://host:port,host:port/name` (the sentinels and the name of the group; `?sentinel=user:password` if they require a password) or `redis+cluster://host:port,host:port` (some nodes); `rediss…` uses TLS. Empty: each process keeps its own limits in memory',
    ),
  },
  'Limits and budgets that replicas share. Redis 6 or later.',
)

const ledger = section(
  {
    url: setting(
      name.regex(/^(?:sqlite:.|postgres(?:ql)?:\/\/.)/, 'must be sqlite:<file> or postgres://…'),
      'sqlite:data/swapgate.db',
      '`sqlite:<file>`, relative to the working directory, or `postgres://user:password@host/database`, which replicas share',
    ),
    refresh: setting(seconds(), 5, 'How long a transaction read from a provider counts as fresh', 'seconds'),
    reconcile: setting(seconds(), 86_400, 'How long the gateway searches for a create with an unknown outcome', 'seconds'),
  },
  'The store of transactions, their owners and their last known state.',
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

const budget = section(
  {
    quotes: setting(integer(0), 60, '`GET /currencies` and `GET /rate` together; 0 is unlimited', 'requests per 60 seconds'),
    create: setting(integer(0), 30, '`POST /transactions`; 0 is unlimited', 'requests per 60 seconds'),
    read: setting(
      integer(0),
      120,
      '`GET /transactions` and `GET /transactions/{id}` together; 0 is unlimited',
      'requests per 60 seconds',
    ),
  },
  'Maximum number of requests that all replicas together send to the provider.',
)

const providerAsset = z.union(
  [z.null(), name.transform((code) => ({ code })), z.strictObject({ coin: name, network: name })],
  'must be a word, { coin, network } or null',
)

const extraIds = choice(['true', 'false', 'unconfirmed']).transform(
  (word): ExtraIds => (word === 'unconfirmed' ? word : word === 'true'),
)

const extraIdName = z.union(
  [name.transform((word) => ({ ask: word, answer: word })), z.strictObject({ ask: name.optional(), answer: name.optional() })],
  'must be a word or { ask, answer }',
)

const extraIdNames = keys({
  deposit: name.optional(),
  withdrawal: extraIdName.optional(),
  refund: extraIdName.optional(),
})

const provider = keys({
  form: required(name, 'The API form of the provider, `A` or `B`'),
  url: required(baseUrl, 'Base URL, including `/api/v2`; must be `https` if a key is sent to another machine'),
  key: setting(text, '', 'Your key at the provider, best read from a file or the environment. Not needed in passthrough mode'),
  tag: setting(
    text,
    '',
    "Prefix of the ids of its transactions: 1 to 16 of a-z and 0-9. Do not change it later. Empty: the provider's name",
  ),
  timeout: setting(seconds('above 0'), 10, 'Maximum wait for the complete response', 'seconds'),
  budget,
  statuses: setting(
    mapping(choice(statuses)),
    {},
    'The meaning of statuses that its form does not define, like `hold: exchanging`',
  ),
  assets: setting(
    mapping(providerAsset),
    {},
    'Its own name for a code of the asset table: one word (Form A) or `{ coin, network }` (Form B), different for each code; `null`: not offered there. With a name for both assets a create to Form A needs no list of currencies from the provider',
  ),
  extraIds: setting(
    extraIds,
    false,
    'Whether it supports memos and tags; a provider that ignores one loses the funds. `unconfirmed`: it does, but its responses need not repeat them',
  ),
  extraIdNames: setting(
    extraIdNames,
    {},
    'Its own field names for them, if they differ from its form: `deposit`, `withdrawal`, `refund`, each one name or `{ ask, answer }` (the name in requests and in responses)',
  ),
  depositMemo: setting(
    list(name),
    [],
    'Networks on which its deposit addresses are shared: a deposit address without a memo is never returned to a client. Without `extraIds`, swaps from these networks are not offered',
  ),
  addresses: setting(
    choice(['checked', 'unchecked']),
    'checked',
    'Whether addresses must match their network in the asset table before a request is sent; `unchecked` leaves the check to the provider',
  ),
  state: setting(
    choice(providerStates),
    'active',
    '`active`; `draining`: no quotes and no creates, its transactions are still read; `off`: never called, its transactions are served from the ledger',
  ),
  native: setting(
    list(text),
    [],
    'Paths of the provider that the native lane opens, like `GET /coins/{}/networks`: a method and a path, in which `{}` is one segment. Every client with a key may call them, and the gateway sends your key at the provider. Empty: none',
  ),
  nativeMaxBytes: setting(integer(0, 1_073_741_824), 1_048_576, 'Maximum size of a request body on the native lane', 'bytes'),
  nativeIdle: setting(seconds('above 0'), 30, 'Idle timeout between two bytes on the native lane, in both directions', 'seconds'),
})

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
      'With `best`: how long to wait for slower providers after the request began, if at least one has responded',
      'milliseconds',
    ),
    shadow: optional(
      keys({ provider: name, sample: share }),
      'A provider to compare: `{ provider, sample }` repeats that share of the quotes there, without effect on clients. It need not be in `providers`',
    ),
  }),
  'Which provider gets a request.',
)

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

const shape = {
  server,
  admin,
  defaultForm: setting(name, 'A', 'The form of a request that does not name one, `A` or `B`'),
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

const addressRule = keys({
  pattern,
  checksum: oneOrMore(choice(checksums), 'must be base58check, bech32 or eip55, or a list of these').default([]),
})

/** Not a union: it would hide the error of a pattern. */
const memoRule = z.unknown().transform((tree, context): MemoRule => {
  if (tree === 'none') return tree
  const { data, error } = z.strictObject({ pattern }, 'must be { pattern } or none').safeParse(tree)
  for (const issue of error?.issues ?? []) context.issues.push({ ...issue, input: tree } as never)
  return data?.pattern ?? z.NEVER
})

const network = keys({
  network: required(name, 'Name of the network'),
  code: required(name, 'The name of the coin on this network in Form A; unique in the table'),
  default: setting(flag, false, 'Whether this is the network of the coin if a request names none; at most one per coin'),
  aliases: setting(list(name), [], 'Other accepted names of the network'),
  depositMin: optional(amount, 'Minimum deposit, used if the provider returns none'),
  depositMax: optional(amount, 'Maximum deposit, used if the provider returns none'),
  address: optional(
    addressRule,
    'The format of its addresses: `{ pattern, checksum }`. `pattern` is a pattern of RE2 that must match the whole address; `checksum` is ' +
      '`base58check`, `bech32` or `eip55`, or a list of these, each checked only if an address has that encoding',
  ),
  memo: optional(memoRule, 'The format of its memos or tags: `{ pattern }`, or `none` if the network has none'),
})

/** The file of the asset table. */
export const assetsSchema = list(
  keys({
    coin: required(name, 'Ticker of the coin'),
    name: required(name, 'Its full name'),
    networks: required(list(network).min(1, 'must have a network'), 'The networks of the coin.'),
  }),
)

export type Settings = z.output<typeof schema>
export type ProviderSettings = Settings['providers'][string]
export type AssetSettings = z.output<typeof assetsSchema>
