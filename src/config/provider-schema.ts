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
    quotes: setting(integer(0), 60, '`GET /currencies`, `GET /rate`', 'requests per 60 seconds'),
    create: setting(integer(0), 30, '`POST /transactions`', 'requests per 60 seconds'),
    read: setting(integer(0), 120, '`GET /transactions`, `GET /transactions/{id}`', 'requests per 60 seconds'),
  },
  'Maximum of [all replicas](limits.md#how-a-budget-is-shared); 0: unlimited',
)

const breaker = section(
  {
    consecutiveFailures: setting(integer(1, 1_000), 5, 'Failures in a row', 'calls'),
    baseEjectionTime: setting(seconds('above 0', 3_600), 30, 'First open time; the n-th is n times as long', 'seconds'),
    maxEjectionTime: setting(seconds('above 0', 3_600), 300, 'Longest open time', 'seconds'),
  },
  'The [circuit breaker](contract-operators.md#8-towards-providers) of each operation',
)

const bulkhead = section(
  {
    maxConcurrentCalls: setting(integer(1, 10_000), 128, 'Calls at a time, and connections, of each process', 'calls'),
    maxPendingCalls: setting(integer(0, 100_000), 4_096, 'Calls that wait; more are rejected at once', 'calls'),
    maxWaitDuration: setting(
      seconds('from 0', 60),
      1,
      'How long one waits; then the next provider takes it, else 503. Keep it far below `timeout`',
      'seconds',
    ),
  },
  'Bounds of calls to it',
)

const judgement = choice(['refuse', 'count'])

const judge = section(
  {
    depositAddress: setting(judgement, 'refuse', "Deposit address: against its network's rule, or one of the request"),
    depositMemo: setting(judgement, 'refuse', 'Its memo: missing, or impossible on the network'),
    amount: setting(judgement, 'refuse', 'Another amount than requested or quoted'),
    contract: setting(judgement, 'refuse', "Another contract of a token than the table's"),
    network: setting(judgement, 'refuse', 'Another network of a coin than requested'),
  },
  'A response to a create that cannot be right. `refuse`: 502 `mismatch`, and a person must look. `count`: the client gets it',
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
  form: required(name, '`A`, `B`, or a real provider’s ([a page each](providers/)), in any case'),
  url: required(baseUrl, 'Base URL, with `/api/v2`; must be `https` if a key goes to another machine'),
  key: setting(key, '', 'Your key there, best from a file or the environment. Not needed in passthrough mode'),
  secret: setting(
    key,
    '',
    'A second key, which signs calls and is never sent, for [some forms](providers/README.md#what-each-can)',
  ),
  listKey: setting(key, '', 'Only to list transactions, where `key` may not. Empty: `key`'),
  settings: setting(formSettings, {}, 'What its form needs or takes beside the key, like `affiliateId` ([its page](providers/))'),
  accountSettings: setting(
    mapping(formSettings),
    {},
    'For accounts, in place of `settings`, in quotes and creates: `{ acme: { promocode: SPRING } }`. Not in passthrough mode',
  ),
  hook: setting(
    hookSecret,
    '',
    'For [its webhooks](contract-operators.md#185-webhooks-of-providers) to `/hooks/<tag>/<hook>`: 24 or more of `A-Z`, `a-z`, `0-9`, `.`, `_`, `~`, `-`. Not in passthrough mode. Empty: no such path',
  ),
  forwardAddress: setting(
    flag,
    false,
    'It may get each client’s address, as some forms need. Behind a proxy `server.trustProxy` must be right',
  ),
  tag: setting(text, '', 'Prefix of its ids: 1 to 16 of a-z and 0-9. **Do not change it later.** Empty: the name'),
  account: setting(
    word,
    '',
    'A word for your account there, the same for all [providers that lead to it](contract-operators.md#4-transaction-ids) (two hosts, or its forms A and B): they share `rateLimit` and the key’s health. Keep it for good. Empty: the tag',
  ),
  timezone: setting(timezone, 'UTC', 'Zone of times without one, like `Europe/Berlin` or `+08:00`'),
  timeout: setting(seconds('above 0'), 10, 'Maximum wait for the whole response', 'seconds'),
  maxConnectionAge: setting(seconds('above 0'), 300, 'How long a connection takes new requests', 'seconds'),
  proxy: optional(proxy, 'Proxy to it. None: [`egress.proxy`](deployment.md#a-proxy-on-the-way-to-providers)'),
  rateLimit,
  breaker,
  bulkhead,
  statuses: setting(
    mapping(choice(statusWords)),
    {},
    "Meaning of its words, like `hold: exchanging`, also in place of the form's; a status itself, like `wait`, keeps its own. `failed`, `held`: [a person must settle it](reconciliation.md#a-transaction-that-needs-a-person)",
  ),
  assets: setting(
    mapping(providerAsset),
    {},
    'Its name for a code of the asset table: a word (Form A) or `{ coin, network }` (Form B), each another; `null`: not offered. `{ contract }`, alone or beside `{ code }` or `{ coin, network }`: [another contract that you accept](assets.md#tokens-are-known-by-contract)',
  ),
  actions: setting(
    flag,
    false,
    'Form A or B: has `…/refund`, `…/continue` and `…/refund-address` for a held swap ([contract](contract.md#311-what-can-be-done-about-a-swap)). Other forms know it',
  ),
  amountTo: setting(flag, false, 'Form A or B: takes `amountTo` in place of `amount`. Other forms know it'),
  extraIds: setting(
    extraIds,
    false,
    'It takes memos and tags: **a provider that ignores one loses the funds**. `unconfirmed`: its responses need not repeat them',
  ),
  networks: setting(
    choice(['confirmed', 'unconfirmed']),
    'confirmed',
    '`confirmed`: its response, or a get, must name the network of a coin with several, else the outcome is unknown. `unconfirmed`: silence is accepted',
  ),
  extraIdNames: setting(
    extraIdNames,
    {},
    "Fields of memos, if not its form's: `deposit`, `withdrawal`, `refund`, each a name or `{ request, response }`",
  ),
  depositMemo: optional(
    list(name),
    'Networks with shared deposit addresses, which [need a memo](contract.md#35-extra-ids): this list alone, also an empty one. None: XRP, XLM, more by form',
  ),
  judge,
  addresses: setting(
    choice(['checked', 'unchecked']),
    'checked',
    '`checked`: they must match their network in the asset table; or `unchecked`',
  ),
  state: setting(
    choice(providerStates),
    'active',
    '`active`, `draining` (no new swaps) or `off` (never called): [switching.md](switching.md)',
  ),
  sandbox: setting(flag, false, 'Its swaps are not real (`X-Swap-Sandbox: true`)'),
  native: setting(
    list(text),
    [],
    'Paths of the [native lane](native.md), like `GET /coins/{}/networks`. **Every client with a key may call them with your key**',
  ),
  nativeMaxBytes: setting(integer(0, 1_073_741_824), 1_048_576, 'Native lane: maximum request body', 'bytes'),
  nativeTimeout: setting(seconds('above 0'), 300, 'Native lane: maximum time of a call', 'seconds'),
  nativeIdle: setting(seconds('above 0'), 30, 'Native lane: timeout between two bytes', 'seconds'),
})
