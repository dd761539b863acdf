/** The configuration (`spec/contract.md` §9): one strict schema. Every scalar of the file arrives here as text. */
import { z } from 'zod'
import { type Amount, toAmount } from '../domain/amount.ts'
import { type Status, statuses } from '../domain/status.ts'

const integerText = /^(?:0|[1-9][0-9]*)$/
const numberText = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/

/** A key with its default, and what `docs/configuration.md` says of it. */
function setting<T extends z.ZodType>(schema: T, standard: z.output<T>, description: string, unit = '') {
  return schema.default(standard as never).meta({ description, unit, standard: JSON.stringify(standard) })
}

function integer(least: number, most = Number.MAX_SAFE_INTEGER) {
  return z
    .string(`must be an integer from ${least}`)
    .refine(
      (text) => integerText.test(text) && Number(text) >= least && Number(text) <= most,
      `must be an integer from ${least}${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`}`,
    )
    .transform(Number)
}

const seconds = z.string('must be a number of seconds').regex(numberText, 'must be a number of seconds').transform(Number)

const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')
const text = z.string('must be a text')
const port = integer(0, 65535)
const name = text.min(1, 'must not be empty')

const amount = text.transform((lexeme, context): Amount => {
  const value = toAmount(lexeme)
  if (value !== undefined) return value
  context.issues.push({ code: 'custom', message: 'must be a number', input: lexeme })
  return z.NEVER
})

const budget = z.strictObject({
  quotes: setting(
    integer(0),
    60,
    'Calls of GET /currencies and GET /rate that all replicas together may send; 0: no bound',
    'per 60 s',
  ),
  create: setting(integer(0), 30, 'Calls of POST /transactions', 'per 60 s'),
  read: setting(integer(0), 120, 'Calls of GET /transactions and GET /transactions/{id}', 'per 60 s'),
})

const ownWords = z.union(
  [z.null(), name.transform((code) => ({ code })), z.strictObject({ coin: name, network: name })],
  'must be a word, { coin, network } or null',
)

const provider = z.strictObject({
  form: name.meta({ description: 'The form that the provider speaks', unit: '', standard: '' }),
  url: text.meta({ description: 'Its base URL, up to and with /api/v2', unit: '', standard: '' }),
  key: setting(text, '', 'Its key for us; may be `${file:/run/secrets/…}`'),
  tag: setting(text, '', "Marks its transactions' ids for good; empty: the provider's name"),
  timeout: setting(seconds, 10, 'Bounds the whole answer', 's'),
  budget: setting(budget, { quotes: 60, create: 30, read: 120 }, 'What it lets us send'),
  statuses: setting(
    z.record(name, z.enum(statuses as unknown as [Status, ...Status[]], `must be one of ${statuses.join(', ')}`)),
    {},
    'What its own status words mean',
  ),
  assets: setting(z.record(name, ownWords), {}, 'Its own word or words for a code of the table; null: not offered there'),
  extraIds: setting(flag, false, 'Whether it takes memos and tags'),
  state: setting(z.enum(['active', 'draining', 'off'], 'must be active, draining or off'), 'active', 'active, draining or off'),
  native: setting(flag, false, 'Whether its own paths are open under /native'),
})

export const schema = z.strictObject({
  server: setting(
    z.strictObject({
      host: setting(name, '127.0.0.1', 'Address to listen on'),
      port: setting(port, 8080, '0: any free one'),
      trustProxy: setting(integer(0, 32), 0, 'Proxies in front whose X-Forwarded-For is believed', 'hops'),
      maxBodyBytes: setting(integer(1), 16384, 'Largest request body', 'bytes'),
      drain: setting(seconds, 10, 'Longest wait for requests in flight at the end', 's'),
      grace: setting(seconds, 2, 'From not ready to no new connections', 's'),
      cors: setting(z.array(name), [], 'Origins that may read answers; none: no CORS'),
    }),
    { host: '127.0.0.1', port: 8080, trustProxy: 0, maxBodyBytes: 16384, drain: 10, grace: 2, cors: [] },
    'The public port',
  ),
  admin: setting(
    z.strictObject({ host: setting(name, '127.0.0.1', 'Address to listen on'), port: setting(port, 9090, '0: any free one') }),
    { host: '127.0.0.1', port: 9090 },
    'Health and metrics',
  ),
  defaultForm: setting(name, 'A', 'The form where nothing else tells it'),
  auth: setting(
    z.strictObject({
      mode: setting(z.enum(['passthrough', 'managed'], 'must be passthrough or managed'), 'passthrough', 'Whose keys clients hold'),
    }),
    { mode: 'passthrough' },
    'Keys',
  ),
  redis: setting(z.strictObject({ url: setting(text, '', 'Empty: limits in memory') }), { url: '' }, 'Shared limits'),
  ledger: setting(
    z.strictObject({
      url: setting(text, 'sqlite:data/swapgate.db', 'sqlite:<file> or postgres://…'),
      refresh: setting(seconds, 5, 'How long what was read counts as fresh', 's'),
      reconcile: setting(seconds, 86400, 'How long an unknown create is looked for', 's'),
    }),
    { url: 'sqlite:data/swapgate.db', refresh: 5, reconcile: 86400 },
    'Who holds which swap',
  ),
  limits: setting(
    z.strictObject({
      quotes: setting(integer(1), 60, 'GET /currencies and GET /rate, for each address', 'per window'),
      create: setting(integer(1), 30, 'POST /transactions, for each key', 'per window'),
      read: setting(integer(1), 120, 'GET /transactions and GET /transactions/{id}, for each key', 'per window'),
      unproven: setting(integer(1), 120, 'Requests of all addresses with keys that nobody has accepted', 'per 60 s'),
      window: setting(integer(1), 60, 'Length of the window', 's'),
      replicas: setting(integer(1), 1, 'Processes that share the limits when Redis is lost'),
    }),
    { quotes: 60, create: 30, read: 120, unproven: 120, window: 60, replicas: 1 },
    'Limits on clients',
  ),
  cache: setting(
    z.strictObject({
      currencies: setting(seconds, 600, 'How long a list of currencies serves', 's'),
      rate: setting(seconds, 2, 'How long a rate may be kept', 's'),
      staleFor: setting(seconds, 86400, 'How long an old list serves while the provider fails', 's'),
    }),
    { currencies: 600, rate: 2, staleFor: 86400 },
    'Kept answers',
  ),
  assets: setting(name, 'assets.yaml', 'The asset table, beside this file'),
  providers: z.record(name, provider).meta({ description: 'The services behind, by name', unit: '', standard: '' }),
  routing: z.strictObject({
    strategy: setting(
      z.enum(['priority', 'weighted', 'best'], 'must be priority, weighted or best'),
      'priority',
      'Who answers a quote or a create',
    ),
    providers: z.array(name).min(1, 'must name a provider').meta({ description: 'In order', unit: '', standard: '' }),
    untagged: setting(text, '', 'Provider of ids without a tag; empty: none'),
    weights: z.record(name, integer(0)).optional().meta({ description: 'For weighted', unit: '', standard: '' }),
    patience: setting(integer(0), 800, 'For best: how long slow ones are waited for', 'ms'),
    shadow: z
      .strictObject({ provider: name, sample: text })
      .optional()
      .meta({ description: 'A candidate that is asked too', unit: '', standard: '' }),
  }),
  sandbox: setting(
    z.strictObject({
      enabled: setting(flag, false, 'Whether the built-in provider runs'),
      port: setting(port, 9101, 'On loopback; 0: any free one'),
      data: setting(name, 'data/sandbox.db', 'Its SQLite file'),
      autoDeposit: setting(seconds, 0, 'Pays each deposit by itself after so long; 0: never', 's'),
      speed: setting(seconds, 2, 'From one status to the next', 's'),
      expiry: setting(seconds, 1200, 'A transaction without a deposit is overdue after so long', 's'),
      seed: setting(integer(0), 1, 'Of the random walk of the prices'),
    }),
    { enabled: false, port: 9101, data: 'data/sandbox.db', autoDeposit: 0, speed: 2, expiry: 1200, seed: 1 },
    'The built-in provider',
  ),
})

const network = z.strictObject({
  network: name,
  code: name,
  default: flag.default(false),
  aliases: z.array(name).default([]),
  depositMin: amount.optional(),
  depositMax: amount.optional(),
})

/** `assets.yaml`. */
export const assetsSchema = z.array(
  z.strictObject({ coin: name, name, networks: z.array(network).min(1, 'must have a network') }),
  'must be a list of coins',
)

export type Settings = z.output<typeof schema>
export type ProviderSettings = Settings['providers'][string]
export type AssetSettings = z.output<typeof assetsSchema>
