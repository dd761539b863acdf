import { type Layer, layer } from './layer.ts'

/** Bounds the whole answer of a provider, however many calls it takes. `timeout` in milliseconds. */
export function deadline(timeout: number): Layer {
  return layer((op, request, context, next) => {
    const latest = Math.min(context.deadline, performance.now() + timeout)
    return next.call(op, request, { ...context, deadline: latest })
  })
}
