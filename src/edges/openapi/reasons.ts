/** `X-Swap-Reason` for integrators: when each reason is sent, with which statuses, and what a client does then. */
import { type Reason, reasons } from '../../domain/faults/reason.ts'
import type { Schema } from '../../wire/schema.ts'

export interface ReasonGuide {
  readonly statuses: readonly number[]
  readonly when: string
  readonly action: string
}

const fix = 'Fix the request.'
const retry = 'Try again later; a create with the same `Idempotency-Key`.'
const wait = 'Wait as long as `Retry-After` says, and try again; a create with the same `Idempotency-Key`.'
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
    when: 'A parameter or a header is missing, given twice, of the wrong type or out of range.',
    action: fix,
  },
  parameter_unknown: { statuses: [400], when: 'There is no such parameter.', action: fix },
  body_invalid: { statuses: [400], when: 'The body is not a whole JSON object in UTF-8.', action: fix },
  unknown_asset: { statuses: [400], when: 'No such coin is known here.', action: 'Choose a coin of the list of currencies.' },
  network_required: { statuses: [400], when: 'The coin has several networks, and none was named.', action: 'Name the network.' },
  network_unknown: {
    statuses: [400],
    when: 'The coin is not on the network that was named.',
    action: 'Choose a network that the message lists.',
  },
  not_offered: {
    statuses: [400],
    when: 'The coin is known, but cannot be swapped at the moment.',
    action: 'Choose another pair, or try again in some hours.',
  },
  address_invalid: {
    statuses: [400],
    when: 'An address is not one of its network.',
    action: 'Ask your user for another address. Nothing was created.',
  },
  memo_invalid: {
    statuses: [400],
    when: 'A memo or tag does not fit its network, or cannot be carried.',
    action: 'Ask your user. Nothing was created.',
  },
  below_minimum: {
    statuses: [400],
    when: 'The amount is below the minimum of the pair.',
    action: 'Ask for a rate: it tells the minimum.',
  },
  above_maximum: {
    statuses: [400],
    when: 'The amount is above the maximum of the pair.',
    action: 'Ask for a rate: it tells the maximum.',
  },
  refused: {
    statuses: [400],
    when: 'The provider refused the request for a reason that only its message tells.',
    action: 'Show the message to a person.',
  },
  key_missing: { statuses: [401], when: 'There is no key in the header of the form.', action: 'Send your key.' },
  key_invalid: {
    statuses: [401],
    when: 'The key is malformed, unknown, expired or revoked.',
    action: 'Ask the operator for a key.',
  },
  key_scope: { statuses: [401], when: 'The key may only read.', action: 'Use a key that may create.' },
  not_found: { statuses: [404], when: 'Your key has no such swap.', action: 'Check the id and the key.' },
  not_open: { statuses: [404], when: 'Nothing is open at this path of the native lane.', action: 'Ask the operator.' },
  in_progress: {
    statuses: [409],
    when: 'An earlier request under this `Idempotency-Key` has no outcome yet.',
    action: 'Ask again later with the same key.',
  },
  outcome_unknown: {
    statuses: [504],
    when: 'The swap may have been created or not.',
    action: 'Ask again with the same `Idempotency-Key`, or look into your list. Never create it under another key before.',
  },
  key_reused: {
    statuses: [422],
    when: 'This `Idempotency-Key` belongs to another request.',
    action: 'Use a new key for each new swap.',
  },
  limited: { statuses: [429], when: 'A limit of yours is reached, here or at the provider.', action: wait },
  unverified_limited: {
    statuses: [429],
    when: 'Too many requests came without a key that was ever accepted.',
    action: 'Check the key; wait as long as `Retry-After` says.',
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
    when: 'The provider failed, or its answer cannot be used. Nothing was created.',
    action: retry,
  },
  provider_busy: { statuses: [503], when: 'No provider can take it now. Nothing was created.', action: wait },
  mismatch: {
    statuses: [502],
    when: 'The provider created another swap than was asked for. There is no address to pay to.',
    action: 'Do not try again with another key. The operator settles it.',
  },
  timeout: { statuses: [504], when: 'The provider did not answer a question in time.', action: retry },
  overloaded: { statuses: [503], when: 'The gateway has more to do than it can.', action: wait },
  ledger_unavailable: {
    statuses: [503],
    when: 'The gateway cannot read or write its ledger. Nothing was created.',
    action: wait,
  },
  stopping: { statuses: [503], when: 'This process is about to end.', action: retry },
  internal: { statuses: [500], when: 'A fault of the gateway.', action: support },
}

/** The header of an error with this status. */
export function reasonHeader(status: number): Schema {
  const possible = reasons.filter((reason) => reasonGuide[reason].statuses.includes(status))
  return {
    description: 'Why, in one word for programs; the table of errors says what to do.',
    required: true,
    schema: { type: 'string', enum: possible },
  }
}

/** All of them as a table in Markdown. */
export function reasonTable(): string {
  const rows = reasons.map((reason) => {
    const { statuses, when, action } = reasonGuide[reason]
    return `| \`${reason}\` | ${statuses.join(', ')} | ${when} | ${action} |`
  })
  return ['| `X-Swap-Reason` | Status | When | What to do |', '|---|---|---|---|', ...rows].join('\n')
}
