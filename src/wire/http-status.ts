/** HTTP statuses and kinds of faults: to a client, and from a provider (docs/contract.md §6). */
import type { FaultKind } from '../domain/fault.ts'
import type { Op } from '../domain/service.ts'

const statusOf: Readonly<Record<FaultKind, number>> = {
  invalid: 400,
  unauthorized: 401,
  notFound: 404,
  methodNotAllowed: 405,
  inProgress: 409,
  tooSlow: 408,
  tooLarge: 413,
  pathTooLong: 414,
  unsupportedMediaType: 415,
  expectationFailed: 417,
  reusedKey: 422,
  limited: 429,
  headersTooLarge: 431,
  internal: 500,
  unreachable: 502,
  unreadable: 502,
  failed: 502,
  accessRefused: 502,
  contradicted: 502,
  unavailable: 503,
  timedOut: 504,
  outcomeUnknown: 504,
}

/** As the HTTP status code registry has them, which is not always what Node calls them. */
const reasonOf: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
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

/** For the response to a client. */
export function toStatus(kind: FaultKind): number {
  return statusOf[kind]
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
