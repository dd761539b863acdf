import { aroundAll, type Layer } from '../layer.ts'

/** Notes whom the question goes to: one that is held back or never answered is still this provider's. */
export function recordProvider(provider: string): Layer {
  return aroundAll((op, request, context, next) => {
    if (context.upstreamTimer) context.upstreamTimer.provider = provider
    return next.call(op, request, context)
  })
}
