/** A span of another trace. */
export interface Link {
  readonly traceId: string
  readonly spanId: string
}

const pattern = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/

/** Parses a `traceparent` header; undefined if it is invalid (W3C Trace Context, §3.2; later versions may have a suffix). */
export function readTraceparent(header: string | undefined): Link | undefined {
  const [, version, traceId, spanId, suffix] = (header !== undefined && pattern.exec(header)) || []
  if (traceId === undefined || spanId === undefined || (version === '00' && suffix !== undefined)) return undefined
  return { traceId, spanId }
}
