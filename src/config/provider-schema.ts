import { z } from 'zod'
import { providerStates } from '../domain/service.ts'
import { statusWords } from '../domain/status.ts'
import type { ExtraIds } from '../domain/swap.ts'
import {
  baseUrl,
  choice,
  flag,
  integer,
  keys,
  list,
  mapping,
  name,
  optional,
  proxy,
  required,
  seconds,
  secret,
  section,
  setting,
  text,
  timezone,
  word,
} from './value-types.ts'

const rateLimit = section(
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
  'Maximum of requests that all replicas together send to it ([limits.md](limits.md#how-a-budget-is-shared))',
)

const breaker = section(
  {
    consecutiveFailures: setting(
      integer(1, 1_000),
      5,
      "Failures in a row that open a breaker (without a connection), or let the gateway's own read decide",
      'calls',
    ),
    baseEjectionTime: setting(
      seconds('above 0', 3_600),
      30,
      'How long a breaker is open the first time; the n-th time n times as long. Quotes and reads are probed each second in any case',
      'seconds',
    ),
    maxEjectionTime: setting(seconds('above 0', 3_600), 300, 'The longest time that a breaker is open', 'seconds'),
  },
  "The [circuit breaker](contract.md#8-towards-providers) of each operation, in the words of Envoy's outlier detection",
)

const bulkhead = section(
  {
    maxConcurrentCalls: setting(
      integer(1, 10_000),
      128,
      'Calls at a time, and connections, of each process: a provider that hangs holds no more',
      'calls',
    ),
    maxPendingCalls: setting(
      integer(0, 100_000),
      4_096,
      'Calls that wait for one of these; a further one is rejected at once',
      'calls',
    ),
    maxWaitDuration: setting(
      seconds('from 0', 60),
      1,
      'How long one waits; then the next provider takes it, else it is 503. Keep it far below `timeout`',
      'seconds',
    ),
  },
  "Bounds of the calls to it, in the words of resilience4j's bulkhead",
)

const judgement = choice(['refuse', 'count'])

const judge = section(
  {
    depositAddress: setting(
      judgement,
      'refuse',
      'The deposit address: against the rule of its network, or one of the request itself',
    ),
    depositMemo: setting(judgement, 'refuse', 'Its memo: missing where it is needed, or one that the network cannot have'),
    amount: setting(judgement, 'refuse', 'An amount: another than was requested or quoted'),
    contract: setting(judgement, 'refuse', "The contract of a token: another than the table's"),
    network: setting(judgement, 'refuse', 'The network of a coin: another than was requested'),
  },
  'If the response to a create cannot be right. `refuse`: 502 `mismatch`, and a person must look. `count`: the client gets it',
)

const contract = name.optional()

const providerAsset = z.union(
  [
    z.null(),
    name.transform((code) => ({ code })),
    z.strictObject({ code: name, contract }),
    z.strictObject({ coin: name, network: name, contract }),
    z.strictObject({ contract: name }),
  ],
  'must be a word, { coin, network }, { contract } or null',
)

const extraIds = choice(['true', 'false', 'unconfirmed']).transform(
  (word): ExtraIds => (word === 'unconfirmed' ? word : word === 'true'),
)

const extraIdName = z.union(
  [
    name.transform((word) => ({ request: word, response: word })),
    z.strictObject({ request: name.optional(), response: name.optional() }),
  ],
  'must be a word or { request, response }',
)

const extraIdNames = keys({
  deposit: name.optional(),
  withdrawal: extraIdName.optional(),
  refund: extraIdName.optional(),
})

/** No fault has it. */
const hookSecret = secret(
  text.regex(/^(?:[A-Za-z0-9._~-]{24,})?$/, 'must be 24 or more of A-Z, a-z, 0-9, ".", "_", "~" and "-"'),
  'key',
)

const key = secret(text, 'key')
const formSettings = mapping(secret(text, 'terms'))

export const provider = keys({
  form: required(name, '`A`, `B`, or that of a real provider ([a page each](providers/)), in any case'),
  url: required(baseUrl, 'Base URL, including `/api/v2`; must be `https` if a key is sent to another machine'),
  key: setting(key, '', 'Your key there, best read from a file or the environment. Not needed in passthrough mode'),
  secret: setting(
    key,
    '',
    'A second key, which signs calls, for a form that [needs it](providers/README.md#what-each-can); it is never sent',
  ),
  listKey: setting(key, '', 'A second key that may list transactions, where `key` may not; used for nothing else. Empty: `key`'),
  settings: setting(
    formSettings,
    {},
    'What its form needs or takes beside the key, like `affiliateId` or a commission; [its page](providers/) names them',
  ),
  accountSettings: setting(
    mapping(formSettings),
    {},
    'In place of `settings`, for accounts of keys that you issue: `{ acme: { promocode: SPRING } }`, in quotes and creates alike. Not in passthrough mode',
  ),
  hook: setting(
    hookSecret,
    '',
    'The end of a path for its webhooks, `/hooks/<tag>/<hook>`, which make the gateway [read the transactions that they name](contract.md#185-webhooks-of-providers). 24 or more of `A-Z`, `a-z`, `0-9`, `.`, `_`, `~`, `-`. Not in passthrough mode. Empty: no such path',
  ),
  forwardAddress: setting(
    flag,
    false,
    'Whether it may get the address of each client, as some forms need. Behind a proxy `server.trustProxy` must be right',
  ),
  tag: setting(
    text,
    '',
    "Prefix of the ids of its transactions: 1 to 16 of a-z and 0-9. **Do not change it later.** Empty: the provider's name",
  ),
  account: setting(
    word,
    '',
    'A word for your account at the service, the same for all providers that lead to it (two hosts, or its forms A and B): they share ids, `rateLimit` and the health of the key. Keep it for good. Empty: the tag',
  ),
  timezone: setting(timezone, 'UTC', 'Zone of its times that have none, like `Europe/Berlin` or `+08:00`'),
  timeout: setting(seconds('above 0'), 10, 'Maximum wait for the complete response', 'seconds'),
  maxConnectionAge: setting(
    seconds('above 0'),
    300,
    'How long a connection is used for new requests, so that a provider that moves is followed',
    'seconds',
  ),
  proxy: optional(proxy, 'Proxy on the way to it. None: [`egress.proxy`](deployment.md#a-proxy-on-the-way-to-providers)'),
  rateLimit,
  breaker,
  bulkhead,
  statuses: setting(
    mapping(choice(statusWords)),
    {},
    "The meaning of its own words for statuses, like `hold: exchanging`, also in place of the form's; a word that is a status itself, like `wait`, keeps its meaning. `failed` and `held`: [a person must settle the transaction](reconciliation.md#a-transaction-that-needs-a-person)",
  ),
  assets: setting(
    mapping(providerAsset),
    {},
    'Its own name for a code of the asset table: one word (Form A) or `{ coin, network }` (Form B), different for each code; `null`: not offered there. `{ contract }`, alone or beside `{ code }` or `{ coin, network }`: [another contract that you accept](assets.md#tokens-are-known-by-contract)',
  ),
  amountTo: setting(
    flag,
    false,
    'Form A or B: whether it takes `amountTo`, the amount to receive, in the place of `amount`. Other forms know it themselves',
  ),
  extraIds: setting(
    extraIds,
    false,
    'Whether it supports memos and tags: **a provider that ignores one loses the funds**. `unconfirmed`: it does, but its responses need not repeat them',
  ),
  networks: setting(
    choice(['confirmed', 'unconfirmed']),
    'confirmed',
    '`confirmed`: its response to a create, or a get, must name the network of a coin that has several; else the outcome is unknown. `unconfirmed`: its silence is accepted',
  ),
  extraIdNames: setting(
    extraIdNames,
    {},
    "Its field names for memos, if not its form's: `deposit`, `withdrawal`, `refund`, each one name or `{ request, response }`",
  ),
  depositMemo: optional(
    list(name),
    'Networks on which its deposit addresses are shared, and [need a memo](contract.md#35-extra-ids). This list, also an empty one, decides alone. None: XRP, XLM, and more by form',
  ),
  judge,
  addresses: setting(
    choice(['checked', 'unchecked']),
    'checked',
    '`checked`: addresses must match their network in the asset table. `unchecked`: the rules of the networks are not applied',
  ),
  state: setting(
    choice(providerStates),
    'active',
    '`active`; `draining`: no quotes and no creates; `off`: never called ([switching.md](switching.md))',
  ),
  sandbox: setting(flag, false, 'Whether its swaps are no real ones: responses about it have `X-Swap-Sandbox: true`'),
  native: setting(
    list(text),
    [],
    'Its paths that the [native lane](native.md) opens, like `GET /coins/{}/networks`. **Every client with a key may call them with your key**',
  ),
  nativeMaxBytes: setting(integer(0, 1_073_741_824), 1_048_576, 'Maximum request body on the native lane', 'bytes'),
  nativeTimeout: setting(seconds('above 0'), 300, 'Maximum time of a call on the native lane', 'seconds'),
  nativeIdle: setting(seconds('above 0'), 30, 'Idle timeout between two bytes on the native lane', 'seconds'),
})
