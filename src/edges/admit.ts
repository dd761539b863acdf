/** Authentication and admission of a request. */
import { Fault } from '../domain/fault.ts'
import { type Caller, type Gate, keyed, type Op } from '../domain/service.ts'
import type { HttpRequest } from '../wire/http.ts'
import type { RequestRecord } from './record.ts'

export interface AdmitOptions {
  readonly gate: Gate
  /**
   * The identity behind a key, which does not reveal the key; undefined: unknown key. Throws if the lookup fails. `isQuote`: it may be
   * what was known of the key a minute ago.
   */
  readonly identify: (key: string, isQuote: boolean) => Promise<string | undefined>
}

/** Authenticates the caller and charges its limits. Throws a `Fault` if the request is rejected. */
export async function admit(
  request: HttpRequest,
  isKeyMalformed: boolean,
  op: Op,
  record: RequestRecord,
  options: AdmitOptions,
): Promise<Caller> {
  const span = record.span?.begin('admission')
  try {
    const caller = await callerOf(request, isKeyMalformed, op, record, options)
    record.caller = caller
    const { quota, refusal } = await options.gate(op, caller)
    record.quota = quota
    if (refusal) throw refusal
    span?.end()
    return caller
  } catch (reason) {
    span?.end(Fault.from(reason))
    throw reason
  }
}

/** If an operation needs no key, a key whose lookup fails is ignored. */
function callerOf(
  { headers, address = '' }: HttpRequest,
  isKeyMalformed: boolean,
  op: Op,
  { form: { credential } }: RequestRecord,
  { identify }: AdmitOptions,
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
