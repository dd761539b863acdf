import { type Layer, layer } from './layer.ts'

/** Notes whom the question goes to: one that is held back or never answered is still this provider's. */
export function asking(provider: string): Layer {
  return layer((op, request, context, next) => {
    if (context.upstream) context.upstream.provider = provider
    return next.call(op, request, context)
  })
}
