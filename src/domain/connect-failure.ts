/** Why no connection to a provider was made: a closed list. */
import { Fault } from './fault.ts'

export const connectFailures = [
  'dns_not_found', // no such name
  'dns_timeout', // the look-up of the name got no answer in time, or could not begin
  'dns_failed',
  'refused', // nothing listens at the address
  'no_route',
  'timed_out',
  'reset',
  'certificate', // expired, of another name, or of an authority that is not known here
  'tls', // no handshake, like that of a server that speaks plain HTTP
  'other',
] as const

export type ConnectFailure = (typeof connectFailures)[number]

/** The look-up of a name got no answer in time. `hasBegun`: false if all threads were taken by other names, which says nothing about this one. */
export class LookupTimeout extends Error {
  readonly code = 'dns_timeout'
  readonly hasBegun: boolean

  constructor(hasBegun: boolean) {
    super(hasBegun ? 'the look-up of the name got no answer' : 'other names without an answer take all threads for look-ups')
    this.hasBegun = hasBegun
  }
}

const byCode: Readonly<Record<string, ConnectFailure>> = {
  ENOTFOUND: 'dns_not_found',
  dns_timeout: 'dns_timeout',
  ECONNREFUSED: 'refused',
  ENETUNREACH: 'no_route',
  EHOSTUNREACH: 'no_route',
  EADDRNOTAVAIL: 'no_route',
  ETIMEDOUT: 'timed_out',
  UND_ERR_CONNECT_TIMEOUT: 'timed_out',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
}

/** In the order in which they are tried. The second one has the words of OpenSSL for what is wrong with a certificate. */
const byPattern: readonly (readonly [RegExp, ConnectFailure])[] = [
  [/^EAI_/, 'dns_failed'],
  [/CERT|CRL|SIGNATURE|^INVALID_|^PATH_LENGTH|^HOSTNAME_MISMATCH/, 'certificate'],
  [/^ERR_SSL_|^ERR_TLS_|^EPROTO$/, 'tls'],
]

/** Of a fault for which no byte was sent. */
export function connectFailureOf(fault: Fault): ConnectFailure {
  const cause = rootCauseOf(fault)
  if (cause instanceof Fault) return 'timed_out' // its deadline came first
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return byCode[code] ?? byPattern.find(([pattern]) => pattern.test(code))?.[1] ?? 'other'
}

/** The first cause that is no fault, else the innermost fault. */
export function rootCauseOf(fault: Fault): unknown {
  const { cause } = fault
  if (cause === undefined) return fault
  return cause instanceof Fault ? rootCauseOf(cause) : cause
}
