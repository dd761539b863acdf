/** The handler while there is no gateway: 503 in every form. */
import type { Config } from '../config/index.ts'
import { Fault } from '../domain/fault.ts'
import { mounts } from '../edges/mounts.ts'
import { serve } from '../edges/serve.ts'
import { formNamed, forms } from '../forms/index.ts'
import type { Http } from '../wire/http.ts'

/** Paths and methods are checked as usual; nothing is logged or counted. */
export function closedHandler({ defaultForm }: Pick<Config, 'defaultForm'>): Http {
  const message = 'The service is starting or stopping; please try again later.'
  const refusal = new Fault('unavailable', message, { reason: 'stopping', retryAfter: 1 })
  const service = { call: () => Promise.reject(refusal) }
  const edge = { gate: async () => ({ refusal }), identify: async () => undefined, observe: () => {} }
  return mounts(new Map(forms.map((form) => [form, serve(form, service, edge)])), formNamed(defaultForm))
}
