/** The spans of the calls that go up to a provider, by the stable HTTP conventions of OpenTelemetry. */
import type { Server } from '../domain/observation.ts'
import { type Context, type Op, ops } from '../domain/operations.ts'
import type { Attributes, Span } from '../domain/span.ts'
import type { Form } from '../wire/form.ts'

export type BeginCall = (op: Op, context: Context) => Span | undefined

/** What the calls of an operation tell alike is made once. */
export function callSpans({ operations }: Form, provider: string, server: Server): BeginCall {
  const at = { 'server.address': server.address, 'server.port': server.port }
  const facts = new Map(
    ops.map((op): [Op, Attributes] => [
      op,
      { 'http.request.method': operations[op].method, 'swapgate.operation': op, 'swapgate.provider': provider, ...at },
    ]),
  )
  return (op, { span, resends }) => {
    if (!span) return undefined
    const call = span.begin(operations[op].method, facts.get(op), 'client')
    if (resends !== undefined) call.tell({ 'http.request.resend_count': resends })
    return call
  }
}
