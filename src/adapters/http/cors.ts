/** cors: express's own middleware for cross-origin requests; it covers the edge cases of preflights. */
import cors from 'cors'
import type { RequestHandler } from 'express'

const sent = [
  'Authorization',
  'X-API-Key',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'X-Request-Id',
  'X-Swap-Form',
  'X-Swap-Provider',
]
const read = [
  'Age',
  'ETag',
  'Idempotent-Replayed',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
  'X-Swap-Attention',
  'X-Swap-Derived',
  'X-Swap-Form',
  'X-Swap-Omitted',
  'X-Swap-Provider',
  'X-Swap-Reason',
  'X-Swap-Stale',
]

/** Lets pages of these origins read responses. The gateway itself responds to OPTIONS. */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: sent,
    exposedHeaders: read,
    preflightContinue: true,
  })
}
