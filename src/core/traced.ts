/** Layers that can wait, told as spans (`docs/traces.md`). Where a request has no trace they are as they would be without. */
import { Fault } from '../domain/fault.ts'
import type { Op } from '../domain/operations.ts'
import type { Attributes, Span } from '../domain/span.ts'
import { type Layer, stack } from './layer.ts'

/** By the name of its span: the operations for which a layer may wait. */
const waits = {
  idempotency: ['createTransaction'],
  currencies: ['listCurrencies'],
  register: ['listTransactions'],
  settlement: ['createTransaction'],
  ownership: ['getTransaction'],
  custody: ['getTransaction'],
  memory: ['getTransaction', 'listTransactions'],
  rates: ['getRate'],
  intent: ['createTransaction'],
} as const satisfies Readonly<Record<string, readonly Op[]>>

/** A span for all the time in the layer, and in those behind it. `provider`: the tag of the one that it stands before. */
export function traced(name: keyof typeof waits, wrap: Layer, provider?: string): Layer {
  const concerned: ReadonlySet<Op> = new Set(waits[name])
  const facts = factsOf(provider)
  return (next) => {
    const wrapped = wrap(next)
    return {
      call(op, request, context) {
        if (!context.span || !concerned.has(op)) return wrapped.call(op, request, context)
        const span = context.span.begin(name, facts)
        const answer = wrapped.call(op, request, { ...context, span })
        endWith(span, answer)
        return answer
      },
    }
  }
}

/** A span for the time until a call has passed these layers: its way on is no part of it. */
export function queued(layers: readonly Layer[], provider: string): Layer {
  const facts = factsOf(provider)
  return (next) => {
    const wrapped = stack(layers, {
      call(op, request, context) {
        context.queue?.end()
        return next.call(op, request, context)
      },
    })
    return {
      call(op, request, context) {
        if (!context.span) return wrapped.call(op, request, context)
        const queue = context.span.begin('queue', facts)
        const answer = wrapped.call(op, request, { ...context, queue })
        if (queue.endedAt === undefined) endWith(queue, answer)
        return answer
      },
    }
  }
}

function factsOf(provider: string | undefined): Attributes {
  return provider === undefined ? {} : { 'swapgate.provider': provider }
}

/** Beside the answer, so that whoever waits for it waits no longer. */
function endWith(span: Span, answer: Promise<unknown>): void {
  answer.then(
    () => span.end(),
    (reason) => span.end(Fault.from(reason)),
  )
}
