/** The introduction of the OpenAPI document, in Markdown, with the field names of the form. */

import { type ParameterError, type Reason, reasons } from '../../domain/fault.ts'
import { isAction } from '../../domain/question.ts'
import { namesByCode, type Op } from '../../domain/service.ts'
import type { EndpointCodec, Form, QuestionCodec } from '../../wire/form.ts'
import type { Schema } from '../../wire/schema.ts'
import { errorBody } from '../encode-response.ts'
import { statusWords } from './schemas.ts'

/** What the configuration of a gateway says, as far as a client sees it. */
export interface Served {
  /** Whether the operator issues the keys; otherwise they are the provider's. */
  readonly isManaged: boolean
  /** The name of the form of a request that names none. */
  readonly defaultForm: string
  /** Whether a form that takes its key beside the header takes it in the query too. */
  readonly keyInQuery: boolean
  /** Whether a create must have an `Idempotency-Key`, in a form whose clients know it. */
  readonly requiresIdempotencyKey: boolean
  /** Requests in a window of so many seconds. */
  readonly limits: { readonly quotes: number; readonly create: number; readonly read: number; readonly window: number }
  /** Tags of the providers that a caller may choose. */
  readonly picks: readonly string[]
  /** Which of the providers of new swaps take memos and tags. */
  readonly memos: 'all' | 'some' | 'none'
  /** Absent if the gateway has no sandbox. */
  readonly sandbox: { readonly port: number; readonly takesKeys: boolean } | undefined
}

type Part = (form: Form, served: Served | undefined) => string

/** `served`: absent for the description of every gateway. */
export function introduction(form: Form, served?: Served, hasAmountsAsText = false): string {
  return textsOf(
    [summary, key, assets, hasAmountsAsText ? amountTexts : amounts, swaps, errors, limits, idempotency, fidelity, sandboxGuide],
    form,
    served,
  ).join('\n\n')
}

/** The introduction without the errors: a text for each subject. */
export function guide(form: Form, served: Served): readonly string[] {
  return textsOf([summary, key, assets, amounts, swaps, limits, idempotency, fidelity, sandboxGuide], form, served)
}

function textsOf(parts: readonly Part[], form: Form, served: Served | undefined): readonly string[] {
  const hasSandbox = served === undefined || served.sandbox !== undefined
  return parts.filter((part) => part !== sandboxGuide || hasSandbox).map((part) => part(form, served))
}

/** The method and the path of an operation. */
function typed(op: Op, { operations }: Form): string {
  return typedPath(operations[op])
}

function typedPath({ method, path }: EndpointCodec): string {
  return `\`${method} ${path.pattern}\``
}

/** The questions of the form here: a gateway without providers to choose does not compare them, one without a sandbox drives none. */
export function questionsOf({ questions }: Form, served: Served | undefined): readonly QuestionCodec[] {
  return questions.filter(({ question }) => {
    if (question === 'driveSandbox') return served?.sandbox !== undefined
    if (question === 'listRates') return served?.picks.length !== 0
    return !isAction(question) || served?.isManaged !== false
  })
}

/** The wire names of response fields, without those that the form does not have. */
function named(op: Op, fields: readonly string[], { operations }: Form): string {
  const names = fields.map((field) => operations[op].responseNames.get(field)).filter((name) => name !== undefined)
  return names.map((name) => `\`${name}\``).join(', ')
}

function summary(form: Form): string {
  return `One stable API for crypto swaps, in **Form ${form.name}**. Requests and responses have this form with every provider.

1. ${typed('getRate', form)}: get a quote.
2. ${typed('createTransaction', form)}: create a swap. The response has the deposit address.
3. Pay, and poll ${typed('getTransaction', form)} until the status is final.

Paths match exactly: they are case-sensitive and have no slash at the end. A parameter that is not listed here is rejected, never ignored.
HEAD returns the headers of GET, and OPTIONS the methods of the path.`
}

function key({ credential, keyMember }: Form, served: Served | undefined): string {
  const headerValue = Object.entries(credential.encode('<your key>'))[0]?.[1]
  const inQuery = served?.keyInQuery ? ' or as a parameter of any request' : ''
  const place = keyMember === undefined ? 'in this header only' : `or as \`${keyMember}\` in the body of a create${inQuery}`
  return `## Your key

Send it as \`${credential.name}: ${headerValue}\`, ${place}. Quotes need no key.${keySource(served)}`
}

function keySource(served: Served | undefined): string {
  if (served === undefined) return ''
  if (served.isManaged) return ' The operator of this gateway issues it.'
  return served.sandbox?.takesKeys
    ? ` It is your key at the provider: here \`${sandboxKey}\`, of the sandbox.`
    : ' It is your key at the provider.'
}

function assets(form: Form): string {
  const assetFields = named('listCurrencies', ['code', 'coin'], form)
  if (namesByCode(form.capabilities))
    return `## Coins and networks

One code names a coin and its network: ${assetFields} of ${typed('listCurrencies', form)}. Tether on TRON is \`USDTTRC20\`, on Ethereum \`USDTERC20\`.`
  return `## Coins and networks

Two parameters name an asset: the coin (${assetFields} of ${typed('listCurrencies', form)}) and the network. A rate without a network uses
the coin's default network. A create must name both networks: the gateway never guesses a network.`
}

function amounts(): string {
  return `## Amounts

Amounts are JSON numbers and exact decimals: no digit is lost or added between you and the provider. They may have more digits than a
binary floating-point number: if that matters, read them with a decimal library. ${amountBounds}`
}

function amountTexts(): string {
  return `## Amounts

Amounts are texts of exact decimals, for clients that send \`Prefer: amounts=text\` with each request: no digit is lost or added between you
and the provider. Read them with a decimal library. ${amountBounds}`
}

const amountBounds = `An amount has at most 64 characters and an exponent from -40 to 40.
A new swap has no more decimals than its coin has on the network; a refusal names the nearest amounts.`

function swaps(form: Form, served: Served | undefined): string {
  return `## Swaps

The id is \`<tag>~<id of the provider>\`. It names the provider of the swap, so it stays valid when providers change. Store it unchanged.

The status moves in one direction: ${statusWords(form.statuses)} \`success\` and \`refunded\` are final.

An unknown field is omitted. Memos and tags (${named('getTransaction', ['depositExtraId', 'withdrawalExtraId', 'refundExtraId'], form) || 'not in this form'}) are
${memos[served?.memos ?? 'some']}`
}

const memos: Readonly<Record<Served['memos'], string>> = {
  all: 'supported.',
  some: 'supported if the provider supports them; otherwise a create with one is rejected.',
  none: 'not supported by this gateway: a create with one is rejected.',
}

function errors(form: Form): string {
  const missing = missingAmount(form)
  return `## Errors

Every 4xx and 5xx, on any path, has this body, whatever \`Accept\` is:

\`\`\`json
${errorBody(form, 400, missing.message, { errors: [missing] })}
\`\`\`

\`X-Swap-Reason\` is the cause for programs; the message is for people.${errorsMember(form)}

${reasonTable()}`
}

/** What is wrong with a rate without an amount. */
export function missingAmount({ operations }: Form): ParameterError {
  const field = operations.getRate.requestNames.get('amountIn') ?? ''
  return { field, reason: 'parameter_invalid', message: `Invalid ${field}: it is missing.` }
}

function errorsMember({ error }: Form): string {
  if ('errors' in error) return ''
  return ' `errors` is there where parameters are wrong: each mistake of the request, the first of which is the reason of the response.'
}

/** Where the file sets none. */
const defaultLimits = { quotes: 60, create: 30, read: 120, window: 60 }

function limits(form: Form, served: Served | undefined): string {
  const { quotes, create, read, window } = served?.limits ?? defaultLimits
  const [who, whose] =
    served === undefined
      ? ['address, or account', 'key, or account']
      : served.isManaged
        ? ['account; address without a key', 'account']
        : ['address', 'key']
  const questions = questionsOf(form, served)
  return `## Limits

| What | Requests in ${window} seconds | For each |
|---|---|---|
| ${[typed('listCurrencies', form), typed('getRate', form), ...questions.filter(({ question }) => !isAction(question)).map(typedPath)].join(', ')} | ${quotes} | ${who} |
| ${[typed('createTransaction', form), ...questions.filter(({ question }) => isAction(question)).map(typedPath)].join(', ')} | ${create} | ${whose} |
| ${typed('listTransactions', form)}, ${typed('getTransaction', form)} | ${read} | ${whose} |

${served ? '' : 'An operator may set other limits: '}\`RateLimit-Policy\` is your limit and \`RateLimit\` what is left of it. Above the limit you get 429 with the
seconds to wait in \`Retry-After\`. Requests without a valid key have a small limit of their own.`
}

function idempotency(form: Form, served: Served | undefined): string {
  const isRequired = served?.requiresIdempotencyKey && form.hasIdempotencyKey
  return `## A create happens once

Send a new \`Idempotency-Key\` with each new swap: 1 to 255 visible ASCII characters, in quotes or without.${isRequired ? ' A create without one is 400.' : ''} Then you can repeat ${typed('createTransaction', form)}
after a timeout or a broken connection: for at least 24 hours you get the first response again, byte for byte, with \`Idempotent-Replayed: true\`,
and with the newest known status in \`X-Swap-Status\` unless that is \`wait\`.
The same key with another request is 422. 409 means that the outcome is not yet known: the gateway searches for it. A rejected create (400, 401, 429) leaves the key free.`
}

function fidelity(form: Form, served: Served | undefined): string {
  return `## Headers of a response

- \`X-Swap-Form\` is the form of the response, \`X-Swap-Provider\` the tag of the provider, \`X-Request-Id\` the id of the request.
- \`X-Swap-Derived\` lists fields that the gateway calculated, \`X-Swap-Omitted\` unknown fields. The gateway never invents a value.
- \`X-Swap-Stale\` is the age in seconds of a stored state, sent if the provider cannot be reached.
- \`Age\` and \`Cache-Control\` are the age of a quote and how long you may cache it. With \`If-None-Match\` an unchanged quote is 304.

Form ${form.name} is also at \`/api/v2\`, for clients with an old base URL: there \`X-Swap-Form: ${form.name}\`${form.isChosenByKey ? ' or the header of the key' : ''} selects it.${served ? ` Without ${form.isChosenByKey ? 'them' : 'it and the key of another form'} it is Form ${served.defaultForm}.` : ''}`
}

/** Public: anybody may use it. */
export const sandboxKey = 'sandbox-key-1'

function sandboxGuide(form: Form, served: Served | undefined): string {
  const driving = questionsOf(form, served).find(({ question }) => question === 'driveSandbox')
  const takesKeys = served?.sandbox?.takesKeys ?? true
  const keys = takesKeys ? ` with the public keys \`${sandboxKey}\` and\n\`sandbox-key-2\`` : ''
  return `## The sandbox

${served ? 'This gateway' : 'A gateway with the default configuration'} uses a sandbox: a simulated provider${keys}. No real coins move there. ${driving ? `${typedPath(driving)} pays a swap of yours, lets it be held, fail or be sent back. Another amount is paid` : 'Pay a swap'} on the sandbox's own port:

\`\`\`sh
curl -sS --fail-with-body http://127.0.0.1:${served?.sandbox?.port ?? 9101}/sandbox/deposits -H 'Content-Type: application/json' -d '{ "depositAddress": "<deposit address>" }'
\`\`\`

Some amounts do what a provider does wrong, so that your client can see each error. Their last six decimals are \`7357\` and two digits:

| Amount | A quote | A create |
|---|---|---|
| \`0.10735701\` | \`refused\` | \`refused\` |
| \`0.10735702\` | \`provider_failed\` | \`outcome_unknown\`; nothing was created |
| \`0.10735703\` | \`timeout\` | \`outcome_unknown\` after the timeout; the same \`Idempotency-Key\` gets the swap |
| \`0.10735704\` | | \`outcome_unknown\` at once; the same \`Idempotency-Key\` is \`in_progress\`, and gets the swap after about 5 seconds |
| \`0.10735705\` | | \`outcome_unknown\`; nothing was created |
| \`0.10735706\` | | takes 3 seconds: the same \`Idempotency-Key\` is \`in_progress\` meanwhile |
| \`0.10735707\` | | \`mismatch\` |
| \`0.10735708\` | | \`outcome_unknown\`; \`needs_person\` in the end |
| \`0.10735709\` | | each get of the swap fails |
| \`0.10735711\` | | held once it is paid: with \`capabilities\`, where the operator issues keys |

The sandbox does not offer \`XNO\`: a create for it is \`not_offered\`.`
}

// `X-Swap-Reason` for integrators: the statuses, the cause and the client's action for each reason.

interface ReasonGuide {
  readonly statuses: readonly number[]
  readonly when: string
  readonly action: string
}

const fix = 'Fix the request.'
const retry = 'Try again later; a create with the same `Idempotency-Key`.'
const wait = 'Wait for `Retry-After` seconds and try again; a create with the same `Idempotency-Key`.'
const support = 'Report the `X-Request-Id`.'

export const reasonGuide: Readonly<Record<Reason, ReasonGuide>> = {
  path: { statuses: [400, 404], when: 'There is no such path.', action: 'Check the base URL and the spelling.' },
  method: { statuses: [405], when: 'The path has no such method.', action: 'Use a method of `Allow`.' },
  form_conflict: {
    statuses: [400],
    when: '`X-Swap-Form` is unknown or contradicts the path, or more than one credential was sent.',
    action: 'Send one form and one credential.',
  },
  parameter_invalid: {
    statuses: [400, 417],
    when: 'A parameter or a header is missing, sent twice, of the wrong type or out of range.',
    action: fix,
  },
  parameter_unknown: { statuses: [400], when: 'There is no such parameter.', action: fix },
  body_invalid: { statuses: [400], when: 'The body is not a complete JSON object in UTF-8.', action: fix },
  unknown_asset: { statuses: [400], when: 'The coin is unknown.', action: 'Choose a coin of the list of currencies.' },
  network_required: {
    statuses: [400],
    when: 'The coin has several networks, and the request names none.',
    action: 'Name the network.',
  },
  network_unknown: {
    statuses: [400],
    when: 'The coin does not exist on the network of the request.',
    action: 'Choose a network that the message lists.',
  },
  not_offered: {
    statuses: [400],
    when: 'The coin is known, but cannot be swapped at the moment; or the provider of a swap does not have this action for it.',
    action: 'Choose another pair, or try again in some hours. For a swap, send your user to the support page in the body.',
  },
  address_invalid: {
    statuses: [400],
    when: 'An address does not match its network.',
    action: 'Request another address from your user. Nothing was created.',
  },
  memo_invalid: {
    statuses: [400],
    when: 'A memo or tag does not match its network, or the provider does not support it.',
    action: 'Check the memo with your user. Nothing was created.',
  },
  below_minimum: {
    statuses: [400],
    when: 'The amount is below the minimum of the pair.',
    action: '`minAmount` of the body is the least.',
  },
  above_maximum: {
    statuses: [400],
    when: 'The amount is above the maximum of the pair.',
    action: '`maxAmount` of the body is the most.',
  },
  refused: {
    statuses: [400],
    when: 'The provider rejected the request; only its message has the cause.',
    action: 'Show the message to a person.',
  },
  idempotency_key_missing: {
    statuses: [400],
    when: 'This service takes a create only with an `Idempotency-Key`. Nothing was created.',
    action: 'Send a new key with each new swap, and the same one with each repeat.',
  },
  key_missing: {
    statuses: [401],
    when: 'There is no key in the header of the form.',
    action: 'Send your key in the header that the message names.',
  },
  key_invalid: {
    statuses: [401],
    when: 'The key is malformed, unknown, expired or revoked, or two were sent that differ.',
    action: 'Request a key from the operator.',
  },
  key_scope: {
    statuses: [401],
    when: 'The key is valid, but not for this operation.',
    action: 'Use a key that has the scope which the message names, or send a quote without a key.',
  },
  role: {
    statuses: [403],
    when: 'Only on the admin port: the token of an operator lacks the role that the message names.',
    action: 'Ask someone whose token has it.',
  },
  not_found: { statuses: [404], when: 'Your key has no such swap.', action: 'Check the id and the key.' },
  not_open: { statuses: [404], when: 'This path of the native lane is not open.', action: 'Contact the operator.' },
  in_progress: {
    statuses: [409],
    when: 'An earlier request with this `Idempotency-Key`, or for this action on the swap, has no outcome yet.',
    action: 'Repeat the request unchanged, with the same key, after `Retry-After` seconds.',
  },
  outcome_unknown: {
    statuses: [504],
    when: 'The swap may have been created or not.',
    action:
      'Repeat the request with the same `Idempotency-Key`, after `Retry-After` seconds; if it had none, look for the swap in your list. Do not create it with another key before that.',
  },
  quote_expired: {
    statuses: [409],
    when: 'The `quoteId` of a create does not hold: its time is over, it was used, it is not yours, or its provider takes no new swaps.',
    action:
      'This request has created nothing. If an earlier one may have used the quote, look for its swap first; else request a new quote and show its price to your user.',
  },
  needs_person: {
    statuses: [409],
    when: 'The swap of this `Idempotency-Key` may have been created, or the service was restored and this action may have been done before: only a person can find out.',
    action: 'Ask the operator. Do not create it with another key before that.',
  },
  conflict: {
    statuses: [409],
    when: 'The swap does not allow this action any more: it has ended, it has a refund address, or another decision was made about it.',
    action: 'Get the swap: its `capabilities` say what can be done about it now.',
  },
  key_reused: {
    statuses: [422],
    when: 'This `Idempotency-Key` belongs to another request.',
    action: 'If you repeat a request, repeat it unchanged. Use a new key only for a new swap.',
  },
  limited: { statuses: [429], when: 'Your limit at the gateway or a limit at the provider is reached.', action: wait },
  unverified_limited: {
    statuses: [429],
    when: 'There are too many requests with unverified keys.',
    action: 'Check the key; wait for `Retry-After` seconds.',
  },
  too_large: {
    statuses: [400, 413, 414, 431],
    when: 'The body, the path or the headers are too large, or (400) a list is too long to be sorted.',
    action: fix,
  },
  media_type: {
    statuses: [415],
    when: 'The body is not sent as `application/json` in UTF-8, or is compressed.',
    action: fix,
  },
  too_slow: { statuses: [408], when: 'The request did not arrive in time.', action: retry },
  provider_failed: {
    statuses: [502, 503],
    when: 'The provider failed, or its response is not usable. Nothing was created.',
    action: retry,
  },
  provider_busy: {
    statuses: [503],
    when: 'No provider is available now, or none gives a fixed rate near the quote that you got within the last minute. Nothing was created.',
    action: `${wait} If the message says that the price has moved, request a new quote first and show it to your user.`,
  },
  mismatch: {
    statuses: [502],
    when: 'The provider created another swap than requested, or its response has a deposit address, memo or amount that cannot be right, or the provider reports the swap as failed now. The response has no deposit address.',
    action: 'Do not try again with another key. The operator resolves it.',
  },
  timeout: { statuses: [504], when: 'The provider did not respond to a read in time.', action: retry },
  overloaded: { statuses: [503], when: 'The gateway is overloaded.', action: wait },
  ledger_unavailable: {
    statuses: [503],
    when: 'The gateway cannot read or write its ledger, and does not know what may be paid. Nothing was created.',
    action: wait,
  },
  ledger_restored: {
    statuses: [409, 503],
    when: 'The gateway was restored from a backup. 503: it may not know this swap yet, or takes no new ones yet. 409: you may have created this swap before; a person finds out.',
    action:
      'Wait for `Retry-After` seconds and repeat the request unchanged. Do not create the swap with another key, or elsewhere; ask the operator.',
  },
  stopping: { statuses: [503], when: 'This process is stopping.', action: wait },
  internal: { statuses: [500], when: 'An internal error of the gateway.', action: support },
}

/** The reasons of a refused amount; a form may have a status of its own for them. */
const amountReasons: readonly Reason[] = ['below_minimum', 'above_maximum']

/** The header of an error with this status. `isAboutAmount`: whether it is the form's own for a refused amount. */
export function reasonHeader(status: number, isAboutAmount = false): Schema {
  const possible = reasons.filter(
    (reason) => reasonGuide[reason].statuses.includes(status) || (isAboutAmount && amountReasons.includes(reason)),
  )
  return {
    description: 'The cause, for programs; the table of errors has the action for each.',
    required: true,
    schema: { type: 'string', enum: possible },
  }
}

/** All reasons as a table in Markdown. */
export function reasonTable(): string {
  const rows = reasons.map((reason) => {
    const { statuses, when, action } = reasonGuide[reason]
    return `| \`${reason}\` | ${statuses.join(', ')} | ${when} | ${action} |`
  })
  return ['| `X-Swap-Reason` | Status | When | What to do |', '|---|---|---|---|', ...rows].join('\n')
}
