/** Spans of calls to a provider, by the stable HTTP conventions of OpenTelemetry. */

import type { Server } from '../domain/observation.ts'
import type { Context } from '../domain/service.ts'
import type { Attributes, Span } from '../domain/trace.ts'
import type { ProviderCall } from '../wire/provider-operation.ts'

export type BeginCall = (call: ProviderCall, context: Context) => Span | undefined

/** Prepares the attributes that the calls of an operation share. */
export function callSpans(provider: string, server: Server): BeginCall {
  const at = { 'server.address': server.address, 'server.port': server.port }
  const attributesOf = new WeakMap<ProviderCall, Attributes>()
  return (call, { span, resends }) => {
    if (!span) return undefined
    const { op, method } = call
    const attributes = attributesOf.getOrInsertComputed(call, () => {
      return { 'http.request.method': method, 'swapgate.operation': op, 'swapgate.provider': provider, ...at }
    })
    const begun = span.begin(method, attributes, 'client')
    if (resends !== undefined) begun.setAttributes({ 'http.request.resend_count': resends })
    return begun
  }
}
