import type { Context } from '../domain/operations.ts'
import { type Layer, layer } from './layer.ts'

/** Bounds the whole answer of a provider, however many calls it takes. `timeout` in milliseconds. */
export function deadline(timeout: number): Layer {
  return layer((op, request, context, next) => next.call(op, request, within(context, timeout)))
}

/** The same with at most so many milliseconds left. */
export function within(context: Context, timeout: number): Context {
  return { ...context, deadline: Math.min(context.deadline, performance.now() + timeout) }
}
