import { aroundAll, type Layer } from '../layer.ts'

/** Records the provider of a request, so that rejected and unanswered requests are counted for it too. */
export function recordProvider(provider: string): Layer {
  return aroundAll(function recordProvider(op, request, context, next) {
    if (context.upstreamTimer) context.upstreamTimer.provider = provider
    return next.call(op, request, context)
  })
}
