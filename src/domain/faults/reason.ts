/** Machine-readable reasons of a refusal or failure: the closed list of `X-Swap-Reason` (docs/contract.md §6). */

export const reasons = [
  'path', // no such path
  'method', // the path has other methods
  'form_conflict', // two choices of the client's form contradict each other
  'parameter_invalid',
  'parameter_unknown',
  'body_invalid', // the body cannot be read as a JSON object
  'unknown_asset',
  'network_required', // the asset is on several networks, and none was named
  'network_unknown', // the asset is not on the network that was named
  'not_offered', // the asset or the pair exists, but no provider takes it now
  'address_invalid',
  'memo_invalid',
  'below_minimum',
  'above_maximum',
  'refused', // the provider refused the request for another reason
  'key_missing',
  'key_invalid',
  'key_scope', // the key may read only
  'not_found', // no such transaction for this key
  'not_open', // nothing is open at this path of the native lane
  'in_progress', // a request with the same Idempotency-Key has no outcome yet
  'outcome_unknown', // a create may or may not have happened
  'key_reused', // the Idempotency-Key belongs to another request
  'limited',
  'unverified_limited', // too many requests without a key that was ever accepted
  'too_large',
  'media_type',
  'too_slow', // the request did not arrive in time
  'provider_failed',
  'provider_busy', // no provider can take it now; nothing was sent
  'mismatch', // the provider's transaction is not the requested one
  'timeout', // the provider did not respond in time
  'overloaded',
  'ledger_unavailable',
  'stopping',
  'internal',
] as const

export type Reason = (typeof reasons)[number]
