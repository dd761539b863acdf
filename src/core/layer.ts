/** Layers, the gateway's middleware, and what composes them. */

import { type Fault, standardFault } from '../domain/fault.ts'
import type { LocalRejectionCause, Observer } from '../domain/observation.ts'
import { type Context, forEachOp, type Op, type Request, type ServiceResponse, type SwapService } from '../domain/service.ts'

/**
 * A layer is middleware: it takes a `SwapService` and returns another with the same interface. Layers form an onion: a request
 * passes them from the outermost to the provider, and its response passes them back.
 *
 * @example A layer that logs each call
 *     const logged: Layer = aroundAll(async function logged(op, request, context, next) {
 *       const response = await next.call(op, request, context)
 *       console.log(op, response.provider)
 *       return response
 *     })
 */
export type Layer = (next: SwapService) => SwapService

type Handler<O extends Op> = (request: Request<O>, context: Context, next: SwapService) => Promise<ServiceResponse<O>>

type Handlers = { readonly [O in Op]?: Handler<O> }

/**
 * A layer with a handler per operation. Operations without a handler do not pass the layer.
 *
 * @example A layer that refuses creates
 *     const readOnly: Layer = onOperations({
 *       createTransaction: () => Promise.reject(standardFault('unavailable', { effect: 'refused' })),
 *     })
 */
export function onOperations(handlers: Handlers): Layer {
  return (next) =>
    forOperations((op) => handlers[op] !== undefined, next, {
      call: (op, request, context) => {
        const handler = handlers[op]
        return handler ? handler(request, context, next) : next.call(op, request, context)
      },
    })
}

type ResponseMappers = {
  readonly [O in Op]?: (response: ServiceResponse<O>, request: Request<O>, context: Context) => ServiceResponse<O>
}

/**
 * A layer that maps the responses of operations that have a handler. A fault passes through.
 *
 * @example A layer that hides the fee of a quote
 *     const withoutFee: Layer = mapResponses({
 *       getRate: (response) => ({ ...response, body: { ...response.body, fee: undefined } }),
 *     })
 */
export function mapResponses(handlers: ResponseMappers): Layer {
  return (next) =>
    forOperations((op) => handlers[op] !== undefined, next, {
      call: (op, request, context) => {
        const handler = handlers[op]
        const response = next.call(op, request, context)
        return handler ? response.then((resolved) => handler(resolved, request, context)) : response
      },
    })
}

/** `service` for the operations that it handles, and `next` for the others. */
export function forOperations(handles: (op: Op) => boolean, next: SwapService, service: SwapService): SwapService {
  return new ServicePerOperation((op) => (handles(op) ? service : next))
}

/** Finds the service of each operation once, so that a call reaches its next handler at once, however many layers have none. */
class ServicePerOperation implements SwapService {
  private readonly byOp: Readonly<Record<Op, SwapService>>

  constructor(serviceOf: (op: Op) => SwapService) {
    this.byOp = forEachOp((op) => {
      const service = serviceOf(op)
      return service instanceof ServicePerOperation ? service.byOp[op] : service
    })
  }

  call<O extends Op>(op: O, request: Request<O>, context: Context): Promise<ServiceResponse<O>> {
    return this.byOp[op].call(op, request, context)
  }
}

/** A layer with one handler for all operations, as in the example of `Layer`. Profiles and stack traces show the handler's name. */
export function aroundAll(around: AroundCall): Layer {
  return (next) => ({ call: (op, request, context) => around(op, request, context, next) })
}

type AroundCall = <O extends Op>(op: O, request: Request<O>, context: Context, next: SwapService) => Promise<ServiceResponse<O>>

/**
 * Wraps the service in the layers, outermost first.
 *
 * @example The deadline bounds both tries of a read
 *     const service = compose([deadline(10_000), retry(upstream)], provider)
 */
export function compose(layers: readonly Layer[], service: SwapService): SwapService {
  return layers.reduceRight((next, wrap) => wrap(next), service)
}

type OperationHandlers = { readonly [O in Op]: (request: Request<O>, context: Context) => Promise<ServiceResponse<O>> }

/** A service with a handler for every operation. */
export function createService(handlers: OperationHandlers): SwapService {
  return {
    call: (op, request, context) => handlers[op](request, context),
  }
}

// Rejections by the gateway itself.

/** Counts a rejection by the gateway itself and returns its `Fault`. `waitMs`: time until a retry makes sense. */
export type RejectLocally = (waitMs: number) => Fault

/** The `Fault` is 503: nothing was sent, and another provider may be tried. */
export function rejectLocally(provider: string, by: LocalRejectionCause, observe: Observer): RejectLocally {
  return (waitMs) => {
    observe({ what: 'localRejection', provider, by })
    return standardFault('unavailable', {
      retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
      effect: 'nothingSent',
      unavailableCause: by === 'bulkhead' ? 'cooldown' : by,
    })
  }
}

// The time for a call.

/**
 * Bounds the time for a provider's response, over all calls that it takes. `timeoutMs`:
 * `providers.<name>.timeout` (default: 10 seconds).
 *
 * @example
 *     const service = compose([deadline(10_000)], provider)
 */
export function deadline(timeoutMs: number): Layer {
  return aroundAll(function deadline(op, request, context, next) {
    return next.call(op, request, limitDeadline(context, timeoutMs))
  })
}

/** The context with at most `timeoutMs` left. */
export function limitDeadline(context: Context, timeoutMs: number): Context {
  const deadline = performance.now() + timeoutMs
  return context.deadline <= deadline ? context : { ...context, deadline }
}
