/** What integrators must know beside the operations, in Markdown; the names are those of the form. */

import { namesByCode } from '../../domain/swap/capabilities.ts'
import type { Op } from '../../domain/swap/operations.ts'
import type { Form } from '../../wire/form.ts'
import { errorBody } from '../response.ts'
import { reasonTable } from './reasons.ts'
import { statusWords } from './schemas.ts'

export function introduction(form: Form): string {
  return [summary, key, assets, amounts, swaps, errors, limits, idempotency, fidelity, sandboxGuide]
    .map((part) => part(form))
    .join('\n\n')
}

/** An operation as it is typed. */
function typed(op: Op, { operations }: Form): string {
  return `\`${operations[op].method} ${operations[op].path.pattern}\``
}

/** Fields of an answer by the names of the form, as far as it has them. */
function named(op: Op, fields: readonly string[], { operations }: Form): string {
  const names = fields.map((field) => operations[op].responseNames.get(field)).filter((name) => name !== undefined)
  return names.map((name) => `\`${name}\``).join(', ')
}

function summary(form: Form): string {
  return `One stable API for crypto swaps, in **Form ${form.name}**. Whichever provider is behind, questions and answers keep this form.

1. ${typed('getRate', form)}: what would you receive?
2. ${typed('createTransaction', form)}: create a swap. The answer tells the address to pay to.
3. Pay, and ask ${typed('getTransaction', form)} until the status is final.

Paths match exactly: case counts, and there is no slash at the end. A parameter that is not listed here is refused by name, never ignored.
HEAD is answered as GET without its body, and OPTIONS with the methods that the path has.`
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

A coin on a network is one word: ${assetFields} of ${typed('listCurrencies', form)}. Tether on TRON is \`USDTTRC20\`, on Ethereum \`USDTERC20\`.`
  return `## Coins and networks

A coin and its network are two words: ${assetFields} of ${typed('listCurrencies', form)}, and the network beside it. A rate without a network is
that of the coin's default network. For a swap both networks must be named: a network is never guessed.`
}

function amounts(): string {
  return `## Amounts

Amounts are JSON numbers and exact decimals: no digit is lost or added between you and the provider. They may have more digits than a
binary floating-point number: read them with a library for decimals where that matters. An amount has at most 64 characters and an exponent from -40 to 40.`
}

function swaps(form: Form): string {
  return `## Swaps

The id is \`<tag>~<id of the provider>\`. It names the provider that holds the swap, so it stays good when providers are changed. Keep it as it is.

The status goes one way: ${statusWords(form.statuses)} \`success\` and \`refunded\` are final.

A field that nobody knows is left out. Memos and tags (${named('getTransaction', ['depositExtraId', 'withdrawalExtraId', 'refundExtraId'], form) || 'not in this form'}) are
carried where the provider honours them; elsewhere a swap that has one is refused.`
}

function errors(form: Form): string {
  return `## Errors

Every 4xx and 5xx, on any path, has this body, whatever \`Accept\` says:

\`\`\`json
${errorBody(form, 400, `Invalid ${form.operations.getRate.requestNames.get('amountIn')}: it is missing.`)}
\`\`\`

\`X-Swap-Reason\` says why, in one word: decide by it, and show the message to people.

${reasonTable()}`
}

function limits(form: Form): string {
  return `## Limits

| What | Requests in 60 seconds | For each |
|---|---|---|
| ${typed('listCurrencies', form)}, ${typed('getRate', form)} | 60 | address, or account |
| ${typed('createTransaction', form)} | 30 | key, or account |
| ${typed('listTransactions', form)}, ${typed('getTransaction', form)} | 120 | key, or account |

An operator may set others: \`RateLimit-Policy\` tells your limit and \`RateLimit\` what is left of it. Over it the answer is 429, and \`Retry-After\`
says for how many seconds. Requests without a good key have a small limit of their own.`
}

function idempotency(form: Form): string {
  return `## A create happens once

Give each new swap an \`Idempotency-Key\` of your own: 1 to 255 visible ASCII characters, in quotes or without. Then ${typed('createTransaction', form)}
may be sent again after a time-out or a broken connection: the first answer comes back, byte for byte, with \`Idempotent-Replayed: true\`, for 24 hours at least.
The same key with another question is 422. 409 means that no outcome is known yet: the gateway looks for it. A refused create (400, 401, 429) leaves the key free.`
}

function fidelity(form: Form): string {
  return `## What is behind an answer

- \`X-Swap-Form\` is the form of the answer, \`X-Swap-Provider\` the tag of the provider that gave it, \`X-Request-Id\` the name of the request.
- \`X-Swap-Derived\` names fields that the gateway worked out, \`X-Swap-Omitted\` fields that nobody knows. Nothing is ever made up.
- \`X-Swap-Stale\` says how many seconds old a state is that is told while the provider cannot be asked.
- \`Age\` and \`Cache-Control\` say how old a quote is and how long it may be kept. With \`If-None-Match\` the same quote is 304.

Form ${form.name} is also at \`/api/v2\`, for clients with an old base URL: there \`X-Swap-Form: ${form.name}\` or the header of the key chooses it.`
}

function sandboxGuide(): string {
  return `## The sandbox

A gateway with its standard configuration stands in front of a sandbox: a simulated provider, with the public keys \`sandbox-key-1\` and
\`sandbox-key-2\`. Nothing that happens there is worth anything. A swap is paid on the sandbox's own port:

\`\`\`sh
curl -s http://127.0.0.1:9101/sandbox/deposits -H 'Content-Type: application/json' -d '{ "depositAddress": "<where to pay>" }'
\`\`\``
}
