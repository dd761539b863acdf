/** Authentication and admission of a request. */
import { Fault } from '../domain/fault.ts'
import { type Caller, keyed, type Op } from '../domain/service.ts'
import type { HttpRequest } from '../wire/http.ts'
import { idempotencyKeyIn } from './idempotency-key.ts'
import type { ClientEdge, RequestRecord } from './record.ts'

/** Authenticates the caller and charges its limits. Throws a `Fault` if the request is rejected. */
export async function admit(
  request: HttpRequest,
  isKeyMalformed: boolean,
  op: Op,
  record: RequestRecord,
  edge: ClientEdge,
): Promise<Caller> {
  const span = record.span?.begin('admission')
  try {
    const caller = await callerOf(request, isKeyMalformed, op, record, edge)
    record.caller = caller
    const { quota, refusal } = await edge.gate(isAskedAgain(request, op, caller, edge) ? 'getTransaction' : op, caller)
    record.quota = quota
    if (refusal) throw refusal
    span?.end()
    return caller
  } catch (reason) {
    span?.end(Fault.from(reason))
    throw reason
  }
}

/** A create under a key whose create was sent is a read. A key that is not valid is refused later, with the content. */
function isAskedAgain(request: HttpRequest, op: Op, { identity }: Caller, edge: ClientEdge): boolean {
  if (op !== 'createTransaction' || identity === undefined || !edge.isAskedAgain) return false
  const key = idempotencyKeyIn(request)
  return key !== undefined && edge.isAskedAgain(identity, key)
}

/** If an operation needs no key, a key whose lookup fails is ignored. */
function callerOf(
  { headers, address = '' }: HttpRequest,
  isKeyMalformed: boolean,
  op: Op,
  { form: { credential } }: RequestRecord,
  { identify }: ClientEdge,
): Promise<Caller> {
  const key = credential.decode(headers)
  if (key === undefined)
    return Promise.resolve({ address, isKeyUnknown: isKeyMalformed || headers[credential.header] !== undefined })
  return identify(key, !keyed.has(op)).then(
    (identity) => (identity === undefined ? { address, isKeyUnknown: true } : { address, key, identity }),
    (reason) => {
      if (keyed.has(op)) throw reason
      return { address, isKeyUnknown: true }
    },
  )
}
