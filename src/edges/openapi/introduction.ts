/** The introduction of the OpenAPI document, in Markdown, with the field names of the form. */

import type { Op } from '../../domain/service.ts'
import { namesByCode } from '../../domain/service.ts'
import type { Form } from '../../wire/form.ts'
import { errorBody } from '../response.ts'
import { reasonTable } from './reasons.ts'
import { statusWords } from './schemas.ts'

export function introduction(form: Form): string {
  return [summary, key, assets, amounts, swaps, errors, limits, idempotency, fidelity, sandboxGuide]
    .map((part) => part(form))
    .join('\n\n')
}

/** The method and the path of an operation. */
function typed(op: Op, { operations }: Form): string {
  return `\`${operations[op].method} ${operations[op].path.pattern}\``
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

function key({ credential }: Form): string {
  const headerValue = Object.entries(credential.encode('<your key>'))[0]?.[1]
  return `## Your key

Send it as \`${credential.name}: ${headerValue}\`, in this header only. Quotes need no key.`
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
binary floating-point number: if that matters, read them with a decimal library. An amount has at most 64 characters and an exponent from -40 to 40.
A new swap has no more decimals than its coin has on the network; a refusal names the nearest amounts.`
}

function swaps(form: Form): string {
  return `## Swaps

The id is \`<tag>~<id of the provider>\`. It names the provider of the swap, so it stays valid when providers change. Store it unchanged.

The status moves in one direction: ${statusWords(form.statuses)} \`success\` and \`refunded\` are final.

An unknown field is omitted. Memos and tags (${named('getTransaction', ['depositExtraId', 'withdrawalExtraId', 'refundExtraId'], form) || 'not in this form'}) are
supported if the provider supports them; otherwise a create with one is rejected.`
}

function errors(form: Form): string {
  return `## Errors

Every 4xx and 5xx, on any path, has this body, whatever \`Accept\` is:

\`\`\`json
${errorBody(form, 400, `Invalid ${form.operations.getRate.requestNames.get('amountIn')}: it is missing.`)}
\`\`\`

\`X-Swap-Reason\` is the cause for programs; the message is for people.

${reasonTable()}`
}

function limits(form: Form): string {
  return `## Limits

| What | Requests in 60 seconds | For each |
|---|---|---|
| ${typed('listCurrencies', form)}, ${typed('getRate', form)} | 60 | address, or account |
| ${typed('createTransaction', form)} | 30 | key, or account |
| ${typed('listTransactions', form)}, ${typed('getTransaction', form)} | 120 | key, or account |

An operator may set other limits: \`RateLimit-Policy\` is your limit and \`RateLimit\` what is left of it. Above the limit you get 429 with the
seconds to wait in \`Retry-After\`. Requests without a valid key have a small limit of their own.`
}

function idempotency(form: Form): string {
  return `## A create happens once

Send a new \`Idempotency-Key\` with each new swap: 1 to 255 visible ASCII characters, in quotes or without. Then you can repeat ${typed('createTransaction', form)}
after a timeout or a broken connection: for at least 24 hours you get the first response again, byte for byte, with \`Idempotent-Replayed: true\`,
and with the newest known status in \`X-Swap-Status\` unless that is \`wait\`.
The same key with another request is 422. 409 means that the outcome is not yet known: the gateway searches for it. A rejected create (400, 401, 429) leaves the key free.`
}

function fidelity(form: Form): string {
  return `## Headers of a response

- \`X-Swap-Form\` is the form of the response, \`X-Swap-Provider\` the tag of the provider, \`X-Request-Id\` the id of the request.
- \`X-Swap-Derived\` lists fields that the gateway calculated, \`X-Swap-Omitted\` unknown fields. The gateway never invents a value.
- \`X-Swap-Stale\` is the age in seconds of a stored state, sent if the provider cannot be reached.
- \`Age\` and \`Cache-Control\` are the age of a quote and how long you may cache it. With \`If-None-Match\` an unchanged quote is 304.

Form ${form.name} is also at \`/api/v2\`, for clients with an old base URL: there \`X-Swap-Form: ${form.name}\` or the header of the key selects it.`
}

function sandboxGuide(): string {
  return `## The sandbox

A gateway with the default configuration uses a sandbox: a simulated provider with the public keys \`sandbox-key-1\` and
\`sandbox-key-2\`. No real coins move there. Pay a swap on the sandbox's own port:

\`\`\`sh
curl -s http://127.0.0.1:9101/sandbox/deposits -H 'Content-Type: application/json' -d '{ "depositAddress": "<deposit address>" }'
\`\`\``
}
