/** Spans of calls to a provider, by the stable HTTP conventions of OpenTelemetry. */

import { type Op, ops } from '../domain/swap/operations.ts'
import type { Context } from '../domain/swap/service.ts'
import type { Server } from '../domain/telemetry/observation.ts'
import type { Attributes, Span } from '../domain/tracing/span.ts'
import type { Form } from '../wire/form.ts'

export type BeginCall = (op: Op, context: Context) => Span | undefined

/** Prepares the attributes that all calls of an operation share. */
export function callSpans({ operations }: Form, provider: string, server: Server): BeginCall {
  const at = { 'server.address': server.address, 'server.port': server.port }
  const attributes = new Map(
    ops.map((op): [Op, Attributes] => [
      op,
      { 'http.request.method': operations[op].method, 'swapgate.operation': op, 'swapgate.provider': provider, ...at },
    ]),
  )
  return (op, { span, resends }) => {
    if (!span) return undefined
    const call = span.begin(operations[op].method, attributes.get(op), 'client')
    if (resends !== undefined) call.setAttributes({ 'http.request.resend_count': resends })
    return call
  }
}
