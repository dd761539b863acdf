import type { Context } from '../../domain/swap/service.ts'
import { aroundAll, type Layer } from '../layer.ts'

/** Bounds the whole answer of a provider, however many calls it takes. `timeout` in milliseconds. */
export function deadline(timeoutMs: number): Layer {
  return aroundAll((op, request, context, next) => next.call(op, request, limitDeadline(context, timeoutMs)))
}

/** The same with at most so many milliseconds left. */
export function limitDeadline(context: Context, timeoutMs: number): Context {
  return { ...context, deadline: Math.min(context.deadline, performance.now() + timeoutMs) }
}
