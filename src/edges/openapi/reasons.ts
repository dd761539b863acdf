/** `X-Swap-Reason` for integrators: the statuses, the cause and the client's action for each reason. */
import { type Reason, reasons } from '../../domain/fault.ts'
import type { Schema } from '../../wire/schema.ts'

export interface ReasonGuide {
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
    when: 'The coin is known, but cannot be swapped at the moment.',
    action: 'Choose another pair, or try again in some hours.',
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
    action: 'Get a rate: it has the minimum.',
  },
  above_maximum: {
    statuses: [400],
    when: 'The amount is above the maximum of the pair.',
    action: 'Get a rate: it has the maximum.',
  },
  refused: {
    statuses: [400],
    when: 'The provider rejected the request; only its message has the cause.',
    action: 'Show the message to a person.',
  },
  key_missing: { statuses: [401], when: 'There is no key in the header of the form.', action: 'Send your key.' },
  key_invalid: {
    statuses: [401],
    when: 'The key is malformed, unknown, expired or revoked.',
    action: 'Request a key from the operator.',
  },
  key_scope: { statuses: [401], when: 'The key may only read.', action: 'Use a key that may create.' },
  not_found: { statuses: [404], when: 'Your key has no such swap.', action: 'Check the id and the key.' },
  not_open: { statuses: [404], when: 'This path of the native lane is not open.', action: 'Contact the operator.' },
  in_progress: {
    statuses: [409],
    when: 'An earlier request with this `Idempotency-Key` has no outcome yet.',
    action: 'Repeat the request later with the same key.',
  },
  outcome_unknown: {
    statuses: [504],
    when: 'The swap may have been created or not.',
    action:
      'Repeat the request with the same `Idempotency-Key`, or check your list. Do not create it with another key before that.',
  },
  key_reused: {
    statuses: [422],
    when: 'This `Idempotency-Key` belongs to another request.',
    action: 'Use a new key for each new swap.',
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
  provider_busy: { statuses: [503], when: 'No provider is available now. Nothing was created.', action: wait },
  mismatch: {
    statuses: [502],
    when: 'The provider created another swap than requested, or its response has a deposit address, memo or amount that cannot be right, or the provider reports the swap as failed now. The response has no deposit address.',
    action: 'Do not try again with another key. The operator resolves it.',
  },
  timeout: { statuses: [504], when: 'The provider did not respond to a read in time.', action: retry },
  overloaded: { statuses: [503], when: 'The gateway is overloaded.', action: wait },
  ledger_unavailable: {
    statuses: [503],
    when: 'The gateway cannot read or write its ledger. Nothing was created.',
    action: wait,
  },
  stopping: { statuses: [503], when: 'This process is stopping.', action: retry },
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
