import type { Context } from '../domain/service.ts'
import { aroundAll, type Layer } from './layer.ts'

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
