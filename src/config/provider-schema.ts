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
  required,
  seconds,
  section,
  setting,
  text,
  timezone,
  word,
} from './value-types.ts'

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

const judgement = choice(['refuse', 'count'])

const judge = section(
  {
    depositAddress: setting(judgement, 'refuse', 'The deposit address: the rule of its network, and none of the request itself'),
    depositMemo: setting(
      judgement,
      'refuse',
      'The memo of the deposit address: missing where it is needed, or one that the network cannot have',
    ),
    amount: setting(judgement, 'refuse', 'The amounts: another one than was requested or quoted'),
    contract: setting(judgement, 'refuse', 'The contract of a token: another one than that of the table'),
    network: setting(judgement, 'refuse', 'The network of a coin: another one than was requested'),
  },
  'What follows if the response to a create cannot be right. `refuse`: the client gets 502 without a deposit address, and a person must look. `count`: the client gets the response, and it is only counted.',
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
  [name.transform((word) => ({ ask: word, answer: word })), z.strictObject({ ask: name.optional(), answer: name.optional() })],
  'must be a word or { ask, answer }',
)

const extraIdNames = keys({
  deposit: name.optional(),
  withdrawal: extraIdName.optional(),
  refund: extraIdName.optional(),
})

export const provider = keys({
  form: required(
    name,
    'The API form of the provider, in any case: `A`, `B`, or that of a real provider, which has a page in `docs/providers/`',
  ),
  url: required(baseUrl, 'Base URL, including `/api/v2`; must be `https` if a key is sent to another machine'),
  key: setting(text, '', 'Your key at the provider, best read from a file or the environment. Not needed in passthrough mode'),
  listKey: setting(
    text,
    '',
    'A second key that may list transactions, where `key` may not; only lists of transactions are read with it. Empty: `key`',
  ),
  settings: setting(mapping(text), {}, 'What its form needs beside the key, like `affiliateId`; the page of the form names them'),
  forwardAddress: setting(
    flag,
    false,
    "Whether the provider may get the address of each client: needed by a form that sends it with quotes and creates. Behind a proxy `server.trustProxy` must be right: else the provider gets the proxy's address",
  ),
  tag: setting(
    text,
    '',
    "Prefix of the ids of its transactions: 1 to 16 of a-z and 0-9. Do not change it later. Empty: the provider's name",
  ),
  account: setting(
    word,
    '',
    'A word for your account at the service, the same for all providers that lead to it: two hosts of one service, or its forms A and B. They share ids, budget and the health of the key. Keep it when the provider is renamed or its key changes. Empty: the tag',
  ),
  timezone: setting(
    timezone,
    'UTC',
    'Zone of its times that have none: a name of the IANA database, like `Europe/Berlin`, or an offset, like `+08:00`',
  ),
  timeout: setting(seconds('above 0'), 10, 'Maximum wait for the complete response', 'seconds'),
  maxConnectionAge: setting(
    seconds('above 0'),
    300,
    'How long a connection is used for new requests, so that a provider that moves to other addresses is followed',
    'seconds',
  ),
  budget,
  statuses: setting(
    mapping(choice(statusWords)),
    {},
    'The meaning of statuses that its form does not define, like `hold: exchanging`, or in place of the one that its form gives them, like `refund: refunded`. A word that is a status itself, like `wait`, keeps its meaning. `failed` and `held`: a person must settle the transaction; its status stays the last known one, or is `exchanging`',
  ),
  assets: setting(
    mapping(providerAsset),
    {},
    'Its own name for a code of the asset table: one word (Form A) or `{ coin, network }` (Form B), different for each code; `null`: not offered there. `{ contract }`, alone or beside `{ code }` or `{ coin, network }`: the contract that its list gives for this token, where that is not the one of the table and you accept it. With a name for both assets a create to Form A needs no list of currencies from the provider',
  ),
  extraIds: setting(
    extraIds,
    false,
    'Whether it supports memos and tags; a provider that ignores one loses the funds. `unconfirmed`: it does, but its responses need not repeat them',
  ),
  networks: setting(
    choice(['confirmed', 'unconfirmed']),
    'confirmed',
    'Whether it names the networks of a transaction. If its response to a create does not, for a coin that has several, a get must; else the outcome of the create is unknown. `unconfirmed`: it never names them, and its silence is accepted',
  ),
  extraIdNames: setting(
    extraIdNames,
    {},
    'Its own field names for them, if they differ from its form: `deposit`, `withdrawal`, `refund`, each one name or `{ ask, answer }` (the name in requests and in responses)',
  ),
  depositMemo: optional(
    list(name),
    'Networks on which its deposit addresses are shared: a deposit address without a memo is never returned to a client, and without `extraIds`, swaps from these networks are not offered. This list, also an empty one, decides alone. Not set: XRP, XLM, those that its form names, and those on which its own list of currencies says that a deposit needs a memo',
  ),
  judge,
  addresses: setting(
    choice(['checked', 'unchecked']),
    'checked',
    'Whether addresses must match their network in the asset table: those of a request before it is sent, and the deposit address of the response. `unchecked`: the rule of the network is not applied',
  ),
  state: setting(
    choice(providerStates),
    'active',
    '`active`; `draining`: no quotes and no creates, its transactions are still read; `off`: never called, its transactions are served from the ledger',
  ),
  sandbox: setting(flag, false, 'Whether its swaps are no real ones: every response about it has `X-Swap-Sandbox: true`'),
  native: setting(
    list(text),
    [],
    'Paths of the provider that the native lane opens, like `GET /coins/{}/networks`: a method and a path, in which `{}` is one segment. Every client with a key may call them, and the gateway sends your key at the provider. Empty: none',
  ),
  nativeMaxBytes: setting(integer(0, 1_073_741_824), 1_048_576, 'Maximum size of a request body on the native lane', 'bytes'),
  nativeTimeout: setting(seconds('above 0'), 300, 'Maximum time of a whole exchange on the native lane', 'seconds'),
  nativeIdle: setting(seconds('above 0'), 30, 'Idle timeout between two bytes on the native lane, in both directions', 'seconds'),
})
