/** The allow-lists of headers of the native lane, and the headers that it sets itself (docs/contract.md §8, §11). */
import type { Headers } from '../../wire/http.ts'
import { baseHeaders, type ResponseContext } from '../response.ts'

const passedUp = ['accept', 'accept-encoding', 'accept-language', 'content-encoding', 'content-type']
const passedDown = ['cache-control', 'content-encoding', 'content-length', 'content-type', 'etag', 'last-modified', 'retry-after']
const methodsWithoutBody: ReadonlySet<string> = new Set(['GET', 'HEAD'])

export function headersUp(method: string, sent: Headers, own: Headers): Headers {
  return { ...pick(sent, passedUp), ...framing(method, sent), ...own }
}

/** `hasSecret`: whether a text contains a configured key. */
export function headersDown(
  status: number,
  received: Headers,
  hasSecret: (text: string) => boolean,
  responseContext: ResponseContext,
  provider: string,
): Headers {
  const { 'content-type': _, 'x-swap-form': __, ...own } = baseHeaders(responseContext, provider)
  const passed = Object.entries(pick(received, passedDown)).filter(([, value = '']) => !hasSecret(value))
  const { 'content-length': length, ...headers } = Object.fromEntries(passed)
  return {
    'cache-control': 'no-store', // if the provider sends none
    ...headers,
    ...(status !== 204 && length !== undefined && { 'content-length': length }),
    ...own,
    'content-security-policy': 'sandbox',
  }
}

/** Whether the head announces a body (RFC 9112 §6). */
export function announcesBody({ 'content-length': length = '0', 'transfer-encoding': coding }: Headers): boolean {
  return coding !== undefined || Number(length) > 0
}

/** The body is framed explicitly: Node sends one of a DELETE without a frame, and a server would read it as another request. */
function framing(method: string, sent: Headers): Headers {
  if (sent['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' }
  return methodsWithoutBody.has(method) ? {} : { 'content-length': String(Number(sent['content-length'] ?? 0)) }
}

function pick(headers: Headers, names: readonly string[]): Headers {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])))
}
