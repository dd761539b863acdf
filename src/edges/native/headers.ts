/** The allow-lists of headers of the native lane, and the headers that it sets itself (docs/contract.md §8, §11). */
import type { Headers } from '../../wire/http.ts'
import { readRetryAfter } from '../../wire/http.ts'
import { baseHeaders, type ResponseContext } from '../response.ts'

const passedUp = ['accept', 'accept-language', 'content-encoding', 'content-type']
const passedDown = ['cache-control', 'content-encoding', 'content-length', 'content-type', 'etag', 'last-modified', 'retry-after']
const methodsWithoutBody: ReadonlySet<string> = new Set(['GET', 'HEAD'])

export function headersUp(method: string, sent: Headers, own: Headers): Headers {
  // Compressed, a body could not be searched for keys as it streams by.
  return { ...pick(sent, passedUp), 'accept-encoding': 'identity', ...framing(method, sent), ...own }
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
  const { 'content-length': length, 'cache-control': cacheControl, 'retry-after': pause, ...headers } = Object.fromEntries(passed)
  const retryAfter = readRetryAfter(pause)
  return {
    'cache-control': forOneKey(cacheControl),
    vary: 'Authorization, X-API-Key',
    ...headers,
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(status !== 204 && length !== undefined && { 'content-length': length }),
    ...own,
    'content-security-policy': 'sandbox',
  }
}

/** A directive with its quoted text. */
const directive = /(?:[^,"]|"(?:[^"\\]|\\.)*")+/g
const shared = /^(?:public|private|s-maxage|proxy-revalidate)(?:=|$)/i

/** `Cache-Control` for the holder of one key: no shared cache may keep the response (RFC 9111 §5.2.2). `no-store` if there is none. */
function forOneKey(cacheControl: string | undefined): string {
  const directives = cacheControl?.match(directive)?.map((text) => text.trim()) ?? []
  if (directives.length === 0 || directives.some((text) => /^no-store$/i.test(text))) return 'no-store'
  return ['private', ...directives.filter((text) => text !== '' && !shared.test(text))].join(', ')
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
