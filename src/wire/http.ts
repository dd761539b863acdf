/** HTTP as plain data: a server's handler and a client are the same type, so they compose with no network between. */
import { Fault, type FaultKind } from '../domain/fault.ts'
import type { Op } from '../domain/service.ts'

export type Headers = Readonly<Record<string, string | undefined>>

export interface HttpRequest {
  readonly method: string
  /** As sent, without the query. Begins with `/`. */
  readonly path: string
  /** What stands before the path: where an application has mounted the gateway, like `/swap`; absent or empty: nowhere. */
  readonly mountedAt?: string
  /** Without its `?`, as it was sent. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: Headers
  /** Names of headers that were sent more than once, but must not be. */
  readonly repeated?: readonly string[]
  /** Why the request is invalid at every path, for example a bad Host. */
  readonly protocolError?: Fault
  /** The client's address. */
  readonly address?: string
  /** Reads the body, once. Throws a `Fault` if it is too large or not UTF-8. `maxBytes`: in place of the configured bound. */
  readonly body?: (maxBytes?: number) => Promise<string>
  /** On the clock of `performance.now()`. */
  readonly deadline?: number
  /** The maximum size of the response; default: 2 MiB. */
  readonly maxResponseBytes?: number
  /** The connection's streams, for the native lane and for waits. */
  readonly streams?: Streams
}

/** The request and its response as streams: the server's adapter creates them, the adapter of the native lane uses them. */
export interface Streams {
  /** Whether the response must have `Connection: close`. */
  readonly endsConnection: () => boolean
  /** Whether the client has gone away. */
  readonly isGone: () => boolean
  /** Whether somebody has read the body, or a part of it. */
  readonly isBodyRead: () => boolean
  /** Waits for so much of the body, all of which stays to be read. Throws `tooSlow` where nothing comes for `idleMs`, or all takes `totalMs`. */
  readonly peekBody: (maxBytes: number, idleMs: number, totalMs: number) => Promise<BodyStart>
}

export interface BodyStart {
  readonly bytes: Buffer
  /** Whether that is the whole body. */
  readonly isWhole: boolean
}

/** Something in front has taken the body: only the operator can change that. */
export function bodyWasRead(): Fault {
  const cause = new Error('The body was read before the gateway: mount the gateway in front of every body parser.')
  cause.stack = '' // no place in this code is at fault
  return new Fault('internal', 'The body was read before it came to the gateway; please report the X-Request-Id.', { cause })
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** Sent instead of `body`: shared by all responses, never copied. */
  readonly bytes?: Uint8Array
  /** Sent instead of `body`, as it comes. */
  readonly stream?: ResponseStream
  /** The response was already sent through `streams`, whole or cut off. */
  readonly isSent?: true
}

/** A body whose end is not known when its head is sent. */
export interface ResponseStream {
  /** Writes until its end. `write` waits while the client does not read; it resolves with false once the connection is gone. */
  readonly run: (write: (text: string) => Promise<boolean>) => Promise<void>
  /** The connection is gone. */
  readonly close: () => void
}

/** Throws only a `Fault`. A response with an error status is returned. */
export type Http = (request: HttpRequest) => Promise<HttpResponse>

// HTTP statuses (docs/contract.md §6). `faultTable` has those for a client.

/** As the HTTP status code registry has them, which is not always what Node calls them. */
const reasonOf: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  302: 'Found',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  408: 'Request Timeout',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** The meaning of a provider's error status, without a code of its form. `keyed`: the call had a key. */
export function fromStatus(status: number, { op, keyed }: { readonly op: Op; readonly keyed: boolean }): FaultKind {
  switch (status) {
    case 400:
    case 422:
      return 'invalid'
    case 401:
    case 403:
      return keyed ? 'unauthorized' : 'failed'
    case 404:
      return isAboutRequest(op) ? 'invalid' : 'notFound'
    case 429:
      return 'limited'
    default:
      return 'failed'
  }
}

/** Whether a 404 is about the request, such as its pair, and not about a transaction. */
export function isAboutRequest(op: Op): boolean {
  return op === 'getRate' || op === 'createTransaction'
}

/** Whether a text is only the name of an error status, and says nothing about the request. */
export function isReasonPhrase(text: string): boolean {
  return Object.values(reasonOf).some((phrase) => phrase.toLowerCase() === text.toLowerCase())
}

export function reasonPhrase(status: number): string {
  return reasonOf[status] ?? 'Error'
}

/** More would stop a provider, or its clients, for longer than anybody can mean. */
const maxSeconds = 3_600

/** Of a provider's 429 that says nothing. */
export const defaultRetryAfterSeconds = 60

/** Between the values of repeated headers; not in a date. */
const separator = /,(?!\s*\d{1,2}[ -][A-Za-z])/

/**
 * Whole seconds, from 1 to an hour, from HTTP dates and numbers of seconds (RFC 9110 §10.2.3), also with fractions: the longest of
 * them. A date is by the clock of the server, as its header `date` has it. Undefined if there is none: see `defaultRetryAfterSeconds`.
 */
export function readRetryAfter(value: string | readonly string[] | undefined, date?: string | undefined): number | undefined {
  const given = [value ?? []].flat().flatMap((text) => text.split(separator))
  const sent = Date.parse(date ?? '')
  const now = Number.isNaN(sent) ? Date.now() : sent
  const seconds = given.map((text) => toSeconds(text.trim(), now)).filter((number) => !Number.isNaN(number))
  return seconds.length === 0 ? undefined : Math.min(Math.max(1, ...seconds.map(Math.ceil)), maxSeconds)
}

function toSeconds(text: string, now: number): number {
  return /^\d+(?:\.\d*)?$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000
}

// Entity tags (RFC 9110 §8.8.3): a response that the client already has is not sent again.

/** The strong tag of a body: the same bytes, the same tag. */
export function entityTag(body: string): string {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let at = 0; at < body.length; at++) {
    const code = body.charCodeAt(at)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  return `"${hexadecimal(a ^ (b >>> 16))}${hexadecimal(b ^ (a >>> 13))}-${body.length.toString(16)}"`
}

function hexadecimal(number: number): string {
  return (number >>> 0).toString(16).padStart(8, '0')
}

/** Whether `If-None-Match` names the tag, strong or weak (RFC 9110 §13.1.2). */
export function matchesEtag(tag: string, ifNoneMatch: string): boolean {
  if (ifNoneMatch.trim() === '*') return true
  const named: readonly string[] | null = ifNoneMatch.match(/"[^"]*"/g)
  return named?.includes(tag) ?? false
}
