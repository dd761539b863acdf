/** Why a provider could not be reached, or its response not be read: two closed lists, and the one place that decides. */
/** Of a connection that was not made: nothing was sent. */
export const unreachableCauses = [
  'dns_not_found', // no such name
  'dns_timeout', // the look-up of the name got no answer in time, or could not begin
  'dns_failed', // a name server answered that it cannot say
  'refused', // nothing listens at the address
  'no_route',
  'timed_out',
  'reset',
  'tls_expired', // or not valid yet
  'tls_untrusted', // of an authority that is not known here, or withdrawn
  'tls_wrong_name',
  'not_tls', // the server speaks something else, like plain HTTP
  'proxy_unreachable', // the proxy on the way: no connection, or no answer to CONNECT
  'proxy_refused', // it answered CONNECT with a refusal, like 407 or 502
  'tls_failed', // TLS, and no agreement: its version, or a certificate that the server wants of its client
  'other', // its code is in the log: the system and OpenSSL have hundreds
] as const

export type UnreachableCause = (typeof unreachableCauses)[number]

/** Of a response that came and could not be used. */
export const unreadableCauses = [
  'charset', // bytes that are not UTF-8
  'encoding', // a content coding that is not known, or a body that is not in it
  'bom', // the mark of UTF-16 or UTF-32 at the start, or two marks
  'cut_off', // the connection ended before the body
  'too_large',
  'not_json',
  'not_of_form', // JSON, and not what the form describes: the metric of drift has the field
] as const

export type UnreadableCause = (typeof unreadableCauses)[number]

export type FailureCause = UnreachableCause | UnreadableCause

/** The look-up of a name got no answer in time. `hasBegun`: false if all threads were taken by other names, which says nothing about this one. */
export class LookupTimeout extends Error {
  readonly code = 'dns_timeout'
  readonly hasBegun: boolean

  constructor(hasBegun: boolean) {
    super(hasBegun ? 'the look-up of the name got no answer' : 'other names without an answer take all threads for look-ups')
    this.hasBegun = hasBegun
  }
}

/** The proxy on the way opened no tunnel, so nothing was sent. */
export class ProxyFailure extends Error {
  readonly code: 'proxy_unreachable' | 'proxy_refused'

  constructor(code: ProxyFailure['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The words of the system, of Node, of OpenSSL and of undici. */
const byCode: Readonly<Record<string, UnreachableCause>> = {
  ENOTFOUND: 'dns_not_found',
  dns_timeout: 'dns_timeout',
  proxy_unreachable: 'proxy_unreachable',
  proxy_refused: 'proxy_refused',
  ECONNREFUSED: 'refused',
  ENETUNREACH: 'no_route',
  EHOSTUNREACH: 'no_route',
  EADDRNOTAVAIL: 'no_route',
  ETIMEDOUT: 'timed_out',
  UND_ERR_CONNECT_TIMEOUT: 'timed_out',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_wrong_name',
  ERR_TLS_CERT_ALTNAME_FORMAT: 'tls_wrong_name',
  HOSTNAME_MISMATCH: 'tls_wrong_name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'not_tls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'not_tls',
}

/** In the order in which they are tried. The second one has the words of OpenSSL for what is wrong with a certificate. */
const byPattern: readonly (readonly [RegExp, UnreachableCause])[] = [
  [/^EAI_/, 'dns_failed'],
  [/^(?!ERR_SSL_).*(?:CERT|CRL|SIGNATURE)|^INVALID_|^PATH_LENGTH/, 'tls_untrusted'],
  [/^ERR_SSL_|^ERR_TLS_|^EPROTO$/, 'tls_failed'],
]

/** Of several addresses of a name, those that say the least about the provider: a network without IPv6, a silent address. From the least. */
const vague: readonly UnreachableCause[] = ['other', 'no_route', 'timed_out']

/** Why a connection was not made or broke: by the error, or those that caused it. */
export function unreachableCauseOf(error: unknown): UnreachableCause {
  if (!(error instanceof Error)) return 'other'
  const inner = error instanceof AggregateError ? error.errors : error.cause === undefined ? [] : [error.cause]
  const own = ofCode('code' in error ? String(error.code) : '')
  const causes = error instanceof AggregateError ? inner.map(unreachableCauseOf) : [own, ...inner.map(unreachableCauseOf)]
  return causes.toSorted((one, other) => clarityOf(other) - clarityOf(one))[0] ?? own
}

function clarityOf(cause: UnreachableCause): number {
  return vague.includes(cause) ? vague.indexOf(cause) : vague.length
}

function ofCode(code: string): UnreachableCause {
  return byCode[code] ?? byPattern.find(([pattern]) => pattern.test(code))?.[1] ?? 'other'
}
