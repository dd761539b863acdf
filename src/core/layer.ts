/** Concerns wrap a `SwapService` and are one themselves: every layer has this one type. */
import type { Answer, Context, Op, Request, SwapService } from '../domain/operations.ts'

export type Layer = (next: SwapService) => SwapService

type Handler<O extends Op> = (request: Request<O>, context: Context, next: SwapService) => Promise<Answer<O>>

export type Handlers = { readonly [O in Op]?: Handler<O> }

/** A layer for the operations that it names; the others pass. */
export function on(handlers: Handlers): Layer {
  return (next) => ({
    call: (op, request, context) => {
      const handler = handlers[op] as Handler<typeof op> | undefined
      return handler ? handler(request, context, next) : next.call(op, request, context)
    },
  })
}

type Afterwards = { readonly [O in Op]?: (answer: Answer<O>, request: Request<O>, context: Context) => Answer<O> }

/** A layer that only looks at the answers of the operations that it names. */
export function after(handlers: Afterwards): Layer {
  return (next) => ({
    call: (op, request, context) => {
      const handler = handlers[op] as Afterwards[typeof op]
      const answer = next.call(op, request, context)
      return handler ? answer.then((told) => handler(told, request, context)) : answer
    },
  })
}

/** A layer that treats every operation alike. */
export function layer(around: SwapServiceWith): Layer {
  return (next) => ({ call: (op, request, context) => around(op, request, context, next) })
}

type SwapServiceWith = <O extends Op>(op: O, request: Request<O>, context: Context, next: SwapService) => Promise<Answer<O>>

/** The service behind its layers, the outermost first. */
export function stack(layers: readonly Layer[], service: SwapService): SwapService {
  return layers.reduceRight((next, wrap) => wrap(next), service)
}

type Answers = { readonly [O in Op]: (request: Request<O>, context: Context) => Promise<Answer<O>> }

/** A service that answers every operation itself. */
export function answers(handlers: Answers): SwapService {
  return {
    call: (op, request, context) => (handlers[op] as Answers[typeof op])(request, context),
  }
}
