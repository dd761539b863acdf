/**
 * Kysely: the request that made a create, by which a person finds it. A row is written once, with the intent, and goes with it. Texts
 * that are only compared are kept as digests: no index has an address.
 */
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { Intent } from '../core/ports/ledger.ts'
import { accountKey } from '../domain/address/same-address.ts'
import type { Database } from './database.ts'

type RequestOfIntent = Pick<Intent, 'id' | 'attemptedAt' | 'requested' | 'idempotencyKey' | 'requestId' | 'keyId'>

/** Of texts that are equal; of two others with a chance of one in 2^64. */
export function digestOf(text: string): bigint {
  return hash('sha256', text, 'buffer').readBigInt64BE()
}

/** Equal for two spellings of one address, whatever its memo. */
export function addressDigest(address: string): bigint {
  return digestOf(accountKey(address))
}

export function requestRow({ id, attemptedAt, requested, idempotencyKey, requestId, keyId }: RequestOfIntent) {
  const { withdrawalAddress, refundAddress } = requested
  return {
    intent: id,
    at: attemptedAt,
    request_id: requestId ?? null,
    key_id: keyId ?? null,
    idempotency_key: idempotencyKey ? digestOf(idempotencyKey.key) : null,
    payout: withdrawalAddress ? addressDigest(withdrawalAddress) : null,
    refund: refundAddress ? addressDigest(refundAddress) : null,
  }
}

/** Of a create that has no row yet. */
export async function storeRequest(within: Database, intent: RequestOfIntent): Promise<void> {
  const { intent: id, at, request_id, key_id, idempotency_key, payout, refund } = requestRow(intent)
  await sql`
    insert into create_requests (intent, at, request_id, key_id, idempotency_key, payout, refund)
    values (${id}, ${at}, ${request_id}, ${key_id}, ${idempotency_key}, ${payout}, ${refund})
    on conflict (intent) do nothing`.execute(within)
}
