/** Adds spans to layers that can wait (`docs/traces.md`). Without a trace the layers are unchanged. */
import { ContextKey, valueIn, withValue } from '../domain/context-values.ts'
import { Fault } from '../domain/fault.ts'
import type { Context, Op } from '../domain/service.ts'
import type { Attributes, Span } from '../domain/trace.ts'
import { compose, forOperations, type Layer } from './layer.ts'

/** The operations for which a layer may wait, by the name of its span. */
const tracedOperations = {
  idempotency: ['createTransaction'],
  currencies: ['listCurrencies'],
  listFromLedger: ['listTransactions'],
  recordResult: ['createTransaction'],
  ownership: ['getTransaction'],
  createdHereOnly: ['getTransaction'],
  enrichFromLedger: ['getTransaction', 'listTransactions'],
  quoteCache: ['getRate'],
} as const satisfies Readonly<Record<string, readonly Op[]>>

/** A span for the time in the layer and in all layers inside it. `provider`: the provider's tag, if the layer belongs to one. */
export function traced(name: keyof typeof tracedOperations, wrap: Layer, provider?: string): Layer {
  const operations: ReadonlySet<Op> = new Set(tracedOperations[name])
  const attributes = attributesOf(provider)
  return (next) => {
    const wrapped = wrap(next)
    return forOperations((op) => operations.has(op), wrapped, {
      call(op, request, context) {
        if (!context.span) return wrapped.call(op, request, context)
        return inSpanOf(context.span.begin(name, attributes), context, (within) => wrapped.call(op, request, within))
      },
    })
  }
}

/** A span for the time of one step of a layer. Without a trace only the step runs. */
export function inSpan<T>(name: 'intent', context: Context, provider: string, step: (within: Context) => Promise<T>): Promise<T> {
  return context.span ? inSpanOf(context.span.begin(name, attributesOf(provider)), context, step) : step(context)
}

function inSpanOf<T>(span: Span, context: Context, step: (within: Context) => Promise<T>): Promise<T> {
  const result = step({ ...context, span })
  endWith(span, result)
  return result
}

export const queueSpan = new ContextKey<Span | undefined>(undefined)

/** A span for the time until a call has passed these layers; the call itself is not part of it. */
export function tracedQueue(layers: readonly Layer[], provider: string): Layer {
  const attributes = attributesOf(provider)
  return (next) => {
    const wrapped = compose(layers, {
      call(op, request, context) {
        valueIn(context, queueSpan)?.end()
        return next.call(op, request, context)
      },
    })
    return {
      call(op, request, context) {
        if (!context.span) return wrapped.call(op, request, context)
        const queue = context.span.begin('queue', attributes)
        const response = wrapped.call(op, request, withValue(context, queueSpan, queue))
        if (queue.endedAt === undefined) endWith(queue, response)
        return response
      },
    }
  }
}

function attributesOf(provider: string | undefined): Attributes {
  return provider === undefined ? {} : { 'swapgate.provider': provider }
}

/** Ends the span in parallel, so that the caller does not wait for it. */
function endWith(span: Span, response: Promise<unknown>): void {
  response.then(
    () => span.end(),
    (reason) => span.end(Fault.from(reason)),
  )
}
