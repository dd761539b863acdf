/** cors: express's own middleware for cross-origin requests; it covers the edge cases of preflights. */
import cors from 'cors'
import type { RequestHandler } from 'express'

const sent = [
  'Authorization',
  'X-API-Key',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'Last-Event-ID',
  'Prefer',
  'X-Request-Id',
  'X-Swap-Form',
  'X-Swap-Provider',
  // What libraries for traces and errors add, and what browsers add where a page wants no cached response.
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
  'Cache-Control',
]
const read = [
  'Age',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
  'X-Swap-Attention',
  'X-Swap-Derived',
  'X-Swap-Form',
  'X-Swap-Omitted',
  'X-Swap-Poll-After',
  'X-Swap-Provider',
  'X-Swap-Reason',
  'X-Swap-Sandbox',
  'X-Swap-Stale',
  'X-Swap-Status',
  'X-Swap-Warning',
]

/** Seconds for which a browser keeps the answer of a preflight: the longest that Chromium takes. */
const maxAgeSeconds = 7_200

const subdomain = /^[a-z0-9.-]+$/

/** Lets pages of these origins read responses; `https://*.example.com` is every host below it. The gateway itself responds to OPTIONS. */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  const named = new Set(origins)
  const below = origins.flatMap((origin) => {
    const [scheme = '', parent] = origin.split('*', 2)
    return parent === undefined ? [] : [{ scheme, parent }]
  })
  const isBelow = (origin: string): boolean =>
    below.some(({ scheme, parent }) => {
      const isFramed = origin.startsWith(scheme) && origin.endsWith(parent)
      return isFramed && subdomain.test(origin.slice(scheme.length, -parent.length))
    })
  return cors({
    origin: (origin, decide) => decide(null, origin !== undefined && (named.has(origin) || isBelow(origin))),
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: sent,
    exposedHeaders: read,
    maxAge: maxAgeSeconds,
    preflightContinue: true,
  })
}
