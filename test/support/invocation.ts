/** What a request of a client is to the checker. */

import type { Operation } from '../checker/history.ts'
import type { Journal } from '../checker/provider/journal.ts'
import type { RequestOptions } from './client.ts'
import { readOrder } from './orders.ts'

type ParsedRequest = Pick<Operation, 'kind' | 'input' | 'idempotencyKey'>

/** Undefined where it is about no transaction. Before a proxy of the API the path begins below the base URL. */
export function invoked({ method = 'GET', path, headers = {}, body = '' }: RequestOptions): ParsedRequest | undefined {
  const [, below] = /^(?:.*\/api\/v2)?\/transactions(.*)$/.exec(path) ?? []
  if (below === undefined) return undefined
  if (method !== 'POST') return { kind: below.startsWith('/') ? 'get' : 'list', input: path }
  const input = typeof body === 'string' ? body : Buffer.from(body).toString()
  const idempotencyKey = headers['idempotency-key']?.replace(/^"(.*)"$/, '$1')
  return { kind: 'create', input, ...(idempotencyKey !== undefined && { idempotencyKey }) }
}

/** Empty where there is none. */
export function keyIn({ headers = {} }: RequestOptions): string {
  return headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer +/i, '') ?? ''
}

/** With its order, and its mark. */
export function understood(operation: Operation): Operation {
  const order = operation.kind === 'create' ? readOrder(operation.input) : undefined
  return { ...operation, mark: markOf(operation), ...(order && { order }) }
}

/** Creates of one client under one Idempotency-Key are one; without a key each is its own. */
function markOf({ client, idempotencyKey, request }: Operation): string {
  return idempotencyKey === undefined ? `request ${request}` : `${idempotencyKey} of ${client}`
}

/** With the marks of the operations that the provider received, by their request id. */
export function marked(journal: Journal, operations: readonly Operation[]): Journal {
  const byRequest = new Map(operations.map((operation) => [operation.request, markOf(operation)]))
  const marks = new Map(
    journal.flatMap((entry) => {
      if (entry.what !== 'received') return []
      const id = entry.headers['x-request-id'] as string | undefined
      return [[entry.request, byRequest.get(id) ?? `request ${id}, which no client made`] as const]
    }),
  )
  return journal.map((entry) => {
    const mark = entry.what === 'received' || entry.what === 'applied' ? marks.get(entry.request) : undefined
    return mark === undefined ? entry : { ...entry, mark }
  })
}
