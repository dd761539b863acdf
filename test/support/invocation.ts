/** Converts a request of a client to an operation of the checker. */

import type { Operation } from '../checker/history.ts'
import type { Journal } from '../checker/provider/journal.ts'
import type { RequestOptions } from './client.ts'
import { readOrder } from './requested-order.ts'

type ParsedRequest = Pick<Operation, 'kind' | 'input' | 'idempotencyKey'>

/** Undefined if it is not about transactions. Before a proxy of the API the path begins below the base URL. */
export function parseRequest({ method = 'GET', path, headers = {}, body = '' }: RequestOptions): ParsedRequest | undefined {
  const [, below] = /^(?:.*\/api\/v2)?\/transactions(.*)$/.exec(path) ?? []
  if (below === undefined) return undefined
  if (method !== 'POST') return { kind: below.startsWith('/') ? 'get' : 'list', input: path }
  const input = typeof body === 'string' ? body : Buffer.from(body).toString()
  const idempotencyKey = headers['idempotency-key']?.replace(/^"(.*)"$/, '$1')
  return { kind: 'create', input, ...(idempotencyKey !== undefined && { idempotencyKey }) }
}

/** Empty if there is none. */
export function keyIn({ headers = {} }: RequestOptions): string {
  return headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer +/i, '') ?? ''
}

/** The operation with its order and its mark. */
export function withOrder(operation: Operation): Operation {
  const order = operation.kind === 'create' ? readOrder(operation.input) : undefined
  return { ...operation, mark: markOf(operation), ...(order && { order }) }
}

/** Creates of one client with the same Idempotency-Key have one mark; without a key each has its own. */
function markOf({ client, idempotencyKey, request }: Operation): string {
  return idempotencyKey === undefined ? `request ${request}` : `${idempotencyKey} of ${client}`
}

/** The journal with the marks of its operations, by their request ids. */
export function withMarks(journal: Journal, operations: readonly Operation[]): Journal {
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
