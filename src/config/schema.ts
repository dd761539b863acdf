/** The configuration (docs/contract.md §9): one strict schema. Every scalar of the file arrives here as text. */
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
} from './value-types.ts'

/** What `docs/configuration.md` says of a key. */
export interface Description {
  readonly description: string
  readonly unit?: string
  /** What stands where the file says nothing; absent: the key is required, or has keys of its own. */
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

/** Keys that all have defaults, so that the section may be left out. */
function section<T extends z.ZodRawShape>(shape: T, description: string) {
  return keys(shape)
    .prefault({} as never)
    .meta({ description } satisfies Description)
}

const server = section(
  {
    host: setting(name, '127.0.0.1', 'Address to listen on; `0.0.0.0` is every IPv4 address of the machine'),
    port: setting(port, 8080, 'Port to listen on; 0 takes any free one and prints it'),
    trustProxy: setting(
      integer(0, 32),
      0,
      'How many proxies stand in front and append to `X-Forwarded-For`; 0 believes no such header',
      'hops',
    ),
    maxBodyBytes: setting(integer(1, 1_048_576), 16_384, 'Largest request body; a larger one is answered 413', 'bytes'),
    connections: setting(
      integer(1, 1_000_000),
      10_000,
      'Most connections at a time; one more is closed at once. Keep it below half of the open files that the system allows',
      'connections',
    ),
    connectionsPerAddress: optional(
      integer(1, 1_000_000),
      'Most connections of one address (IPv6: of one /64) at a time, where `trustProxy` is 0; one more is closed at once. Not set: nine tenths of all. Behind a proxy all connections are the proxy’s, and there is no such bound',
    ),
    socketTimeout: setting(
      seconds('above 0'),
      75,
      'Longest silence of a connection, and longest time in which a client may take an answer; twice the longest `timeout` of a provider where that is more',
      'seconds',
    ),
    drain: setting(seconds(), 10, 'At the end, the longest wait for requests in flight', 'seconds'),
    grace: setting(
      seconds(),
      2,
      'At the end, how long new connections are still taken after `/readyz` has turned 503, so that a balancer can notice',
      'seconds',
    ),
    cors: setting(list(origin), [], 'Origins whose pages may read answers, like `https://app.example`; none sends no CORS headers'),
  },
  'The public port.',
)

const admin = section(
  {
    host: setting(name, '127.0.0.1', 'Address to listen on'),
    port: setting(port, 9090, 'Port to listen on; 0 takes any free one and prints it'),
    hosts: setting(
      list(name),
      [],
      'Names in `Host` that the port answers beside `localhost` and IP addresses, so that no page elsewhere reaches it through a name of its own; `/livez`, `/readyz` and `/metrics` answer any',
    ),
  },
  'The port for operators: `/livez`, `/readyz` and `/metrics`. Never expose it to clients.',
)

const auth = section(
  {
    mode: setting(
      choice(['passthrough', 'managed']),
      'passthrough',
      "Whose keys clients hold. `passthrough`: the provider's own. `managed`: issued by you, with `swapgate keys`",
    ),
  },
  'Keys of clients.',
)

const redis = section(
  {
    url: setting(
      redisUrl,
      '',
      '`redis://user:password@host:port/database`, `redis+sentinel://host:port,host:port/name` (the sentinels, and what they call the group; `?sentinel=user:password` where they ask for a password) or `redis+cluster://host:port,host:port` (some nodes); `rediss…` is TLS. Empty: limits are kept in the memory of each process',
    ),
  },
  'Limits and budgets shared by replicas. Redis 6 or later.',
)

const ledger = section(
  {
    url: setting(
      name.regex(/^(?:sqlite:.|postgres(?:ql)?:\/\/.)/, 'must be sqlite:<file> or postgres://…'),
      'sqlite:data/swapgate.db',
      '`sqlite:<file>`, relative to the working directory, or `postgres://user:password@host/database`, shared by replicas',
    ),
    refresh: setting(seconds(), 5, 'How long what was read from a provider counts as fresh', 'seconds'),
    reconcile: setting(seconds(), 86_400, 'How long a create with an unknown outcome is looked for', 'seconds'),
  },
  'Who holds which swap, and what is known of it.',
)

const limits = section(
  {
    quotes: setting(integer(1), 60, '`GET /currencies` and `GET /rate` together, for each client address', 'requests per window'),
    create: setting(integer(1), 30, '`POST /transactions`, for each key', 'requests per window'),
    read: setting(
      integer(1),
      120,
      '`GET /transactions` and `GET /transactions/{id}` together, for each key',
      'requests per window',
    ),
    unproven: setting(
      integer(1),
      120,
      'Requests with keys that nobody has accepted, from all addresses together. Past it, addresses of which a key was refused in the last minute get 429; past five times it, every key that nobody has accepted does',
      'requests per 60 seconds',
    ),
    window: setting(integer(1, 86_400), 60, 'Length of the window, which begins with the first request', 'seconds'),
    replicas: setting(
      integer(1),
      1,
      'How many processes share the limits and budgets: while Redis is lost, each has its part of them',
      'processes',
    ),
    shadow: setting(flag, false, 'Limits are counted and told in the headers, and nobody is refused: to try them out'),
  },
  'Limits on clients; one request too many is answered 429.',
)

const cache = section(
  {
    currencies: setting(seconds(), 600, "How long a provider's list of currencies serves before it is read again", 'seconds'),
    rate: setting(
      seconds(),
      2,
      'How long a rate is told again, to whoever asks the same; 0 asks the provider each time',
      'seconds',
    ),
    staleFor: setting(
      seconds(),
      86_400,
      'How much longer an old list of currencies serves while the provider fails; and how old the list may be that a create to Form A relies on (`currencies` where that is more)',
      'seconds',
    ),
  },
  'Answers that are kept.',
)

const budget = section(
  {
    quotes: setting(integer(0), 60, '`GET /currencies` and `GET /rate` together; 0 is no bound', 'requests per 60 seconds'),
    create: setting(integer(0), 30, '`POST /transactions`; 0 is no bound', 'requests per 60 seconds'),
    read: setting(
      integer(0),
      120,
      '`GET /transactions` and `GET /transactions/{id}` together; 0 is no bound',
      'requests per 60 seconds',
    ),
  },
  'What all replicas together may send to the provider.',
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
  form: required(name, 'The form that the provider speaks, `A` or `B`'),
  url: required(baseUrl, 'Base URL, up to and with `/api/v2`; `https` where a key goes to another machine'),
  key: setting(
    text,
    '',
    'Your key at the provider, best read from a file or the environment; nothing needs it in passthrough mode',
  ),
  tag: setting(text, '', "Begins the id of each of its transactions, for good: 1 to 16 of a-z and 0-9. Empty: the provider's name"),
  timeout: setting(seconds('above 0'), 10, 'Longest wait for the whole answer', 'seconds'),
  budget,
  statuses: setting(mapping(choice(statuses)), {}, 'What status words outside its form mean, like `hold: exchanging`'),
  assets: setting(
    mapping(providerAsset),
    {},
    'Its own word (Form A) or `{ coin, network }` (Form B) for a code of the asset table, another for each; `null`: not offered there. With words for both assets a create to Form A needs no list of the provider',
  ),
  extraIds: setting(
    extraIds,
    false,
    'Whether it honours memos and tags; a provider that ignores one loses the funds. `unconfirmed`: it does, and its answers need not repeat them',
  ),
  extraIdNames: setting(
    extraIdNames,
    {},
    'Its own fields for them: `deposit`, `withdrawal`, `refund`, each a word or `{ ask, answer }`, where its form has other words',
  ),
  depositMemo: setting(
    list(name),
    [],
    'Networks on which its deposit addresses are shared, so that one without a memo is told to nobody; without `extraIds` it is not offered coins from there',
  ),
  addresses: setting(
    choice(['checked', 'unchecked']),
    'checked',
    'Whether addresses must fit their network in the asset table before anything goes up; `unchecked` leaves that to the provider',
  ),
  state: setting(
    choice(providerStates),
    'active',
    '`active`; `draining`: no quotes and no creates, what it holds is still read; `off`: never called, what it holds is answered from the ledger',
  ),
  native: setting(
    list(text),
    [],
    'What the native lane opens of its own paths, like `GET /coins/{}/networks`: a method and a path, in which `{}` is one segment. Every key may call these with your own key at the provider. Empty: nothing',
  ),
  nativeMaxBytes: setting(integer(0, 1_073_741_824), 1_048_576, 'Largest body that goes up the native lane', 'bytes'),
  nativeIdle: setting(seconds('above 0'), 30, 'Longest silence between two bytes of the native lane, either way', 'seconds'),
})

const routing = required(
  keys({
    strategy: setting(
      choice(['priority', 'weighted', 'best']),
      'priority',
      'Which provider takes a quote or a create. `priority`: the first of `providers` that can. `weighted`: by `weights`, each client always the same one. `best`: the one that quotes the highest amount received',
    ),
    providers: required(list(name).min(1, 'must name a provider'), 'Names of providers, in order; exactly one in passthrough mode'),
    untagged: setting(
      text,
      '',
      'The provider that holds ids without a tag: transactions from before the gateway. Empty: such ids are answered 404',
    ),
    weights: optional(
      mapping(integer(0, 1000)),
      'With `weighted`: the share of each provider of `providers`, like `{ alpha: 90, beta: 10 }`; one with 0 takes no quotes and no creates',
    ),
    pick: setting(
      list(name),
      [],
      'Tags of providers that a request with an issued key may choose with `X-Swap-Provider`, also where `weights` give them nothing. Of no effect in passthrough mode',
    ),
    patienceMs: setting(
      integer(0, 60_000),
      800,
      'With `best`: after this time slower providers are left out, once one has answered',
      'milliseconds',
    ),
    shadow: optional(
      keys({ provider: name, sample: share }),
      'A candidate to compare: `{ provider, sample }` repeats that share of the quotes at it, and clients notice nothing. It need not be in `providers`',
    ),
  }),
  'Which provider answers.',
)

const log = section(
  {
    level: setting(
      choice(['info', 'warn', 'error', 'silent']),
      'info',
      'The least weight that a line must have: `warn` is what providers got wrong, `error` what the gateway did',
    ),
    requests: setting(flag, true, 'Whether every request has a line'),
  },
  'One line of JSON for each event, on standard error; in a terminal a line for people.',
)

const sandbox = section(
  {
    enabled: setting(flag, false, 'Whether it runs'),
    port: setting(port, 9101, 'Port to listen on, on loopback only; 0 takes any free one and prints it'),
    data: setting(name, 'data/sandbox.db', 'Its SQLite file, relative to the working directory'),
    autoDeposit: setting(seconds(), 0, 'Pays each deposit by itself after so long; 0 never does', 'seconds'),
    speed: setting(seconds(), 2, 'From one status to the next', 'seconds'),
    expiry: setting(seconds(), 1_200, 'After so long without a deposit, a transaction is overdue', 'seconds'),
    seed: setting(integer(0), 1, 'Seed of the random walk of its prices'),
  },
  'The built-in provider, to develop and rehearse against. Its keys are public.',
)

/** As OpenTelemetry names them; whether the caller wants a trace kept is not heeded, so `parentbased_…` is the same. */
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
    metrics: setting(
      flag,
      true,
      'Whether requests and calls are counted for `/metrics`; else it has the figures of the process alone',
    ),
    endpoint: setting(
      baseUrlOrNone,
      '',
      'Base URL of a collector that takes OTLP over HTTP, like `http://127.0.0.1:4318`. Empty: nothing is traced',
    ),
    disabled: setting(flag, false, 'Nothing is traced, whatever the endpoint is'),
    sampler: setting(
      choice(samplers),
      'traceidratio',
      'Which traces are kept though nothing failed: by `ratio`, all or none. What a caller asks for is not heeded',
    ),
    ratio: setting(share, 0.01, 'The share of traces that is kept though nothing failed; those that end in 5xx always are'),
    queue: setting(integer(1), 2_048, 'Most spans that wait to be sent; traces beyond that are dropped', 'spans'),
    batch: setting(integer(1), 512, 'Most spans that are sent together', 'spans'),
    delayMs: setting(integer(0), 5_000, 'How long spans wait for others', 'milliseconds'),
    timeoutMs: setting(integer(1), 2_000, 'Longest try to send a batch, and to send the rest at the end', 'milliseconds'),
    exportTimeoutMs: setting(integer(1), 30_000, 'After so long the next batch no longer waits for the last', 'milliseconds'),
  },
  'What is told to monitoring: metrics, and traces by OpenTelemetry. Read at the start only. For a key that is not here an ' +
    '`OTEL_…` variable may stand ([traces.md](traces.md)).',
)

const shape = {
  server,
  admin,
  defaultForm: setting(name, 'A', 'The form of a request that tells no form, `A` or `B`'),
  docs: setting(flag, true, 'Whether `/docs` and the `openapi.json` of each form are served'),
  auth,
  redis,
  ledger,
  limits,
  cache,
  assets: setting(name, 'assets.yaml', 'File of the asset table, relative to this file'),
  providers: required(mapping(provider), 'The services behind the gateway, by a name of your choice.'),
  routing,
  log,
  telemetry,
  sandbox,
}

/** The gateway's file. */
export const schema = z.strictObject(shape, 'the file must be a mapping')

const addressRule = keys({
  pattern,
  checksum: oneOrMore(choice(checksums), 'must be base58check, bech32 or eip55, or a list of these').default([]),
})

/** A union would hide where a pattern is wrong. */
const memoRule = z.unknown().transform((tree, context): MemoRule => {
  if (tree === 'none') return tree
  const { data, error } = z.strictObject({ pattern }, 'must be { pattern } or none').safeParse(tree)
  for (const issue of error?.issues ?? []) context.issues.push({ ...issue, input: tree } as never)
  return data?.pattern ?? z.NEVER
})

const network = keys({
  network: required(name, 'Name of the network'),
  code: required(name, 'What Form A calls the coin on this network; no two assets share one'),
  default: setting(flag, false, 'Whether this network is meant where a client names none; at most one for each coin'),
  aliases: setting(list(name), [], 'Other names that are accepted for the network'),
  depositMin: optional(amount, 'Smallest deposit, told where the provider does not tell one'),
  depositMax: optional(amount, 'Largest deposit, told where the provider does not tell one'),
  address: optional(
    addressRule,
    'What its addresses look like: `{ pattern, checksum }`. The pattern is one of RE2 and stands for the whole address; `checksum` is ' +
      '`base58check`, `bech32` or `eip55`, or a list of these, each looked at only where an address has that encoding',
  ),
  memo: optional(memoRule, 'What its memos or tags look like: `{ pattern }`, or `none` where it has none'),
})

/** The asset table's file. */
export const assetsSchema = list(
  keys({
    coin: required(name, 'Ticker of the coin'),
    name: required(name, 'Its full name'),
    networks: required(list(network).min(1, 'must have a network'), 'Where it lives.'),
  }),
)

export type Settings = z.output<typeof schema>
export type ProviderSettings = Settings['providers'][string]
export type AssetSettings = z.output<typeof assetsSchema>
