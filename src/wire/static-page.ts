/** A fixed document at a fixed path of the public port. */
import { entityTag } from './http.ts'

/** One representation of a document. All responses share its bytes. */
export interface Content {
  readonly bytes: Uint8Array
  /** The strong tag of these bytes. */
  readonly tag: string
}

export interface StaticPage {
  /** With a query, if it is another document at the same path. */
  readonly path: string
  readonly type: string
  /** Made at the first request, and the same then. `mountedAt`: as in `HttpRequest`. */
  readonly content: (mountedAt: string) => Content
  /** The same document, compressed: the same bytes each time. */
  readonly gzip?: (mountedAt: string) => Promise<Content>
  /** Whether the document at this path never changes, so that it may be cached for ever. */
  readonly isImmutable: boolean
  /** `Content-Security-Policy`, of a page that a browser shows. */
  readonly contentSecurityPolicy?: string
  /** Where the client finds the document instead, relative to the path. */
  readonly location?: string
  /** Whether it is there only for who reads HTML; for programs there is nothing at the path. */
  readonly isForBrowsers?: boolean
}

/** A path that leads to another one. */
export function leadTo(location: string, path: string, isForBrowsers: boolean): StaticPage {
  return { path, location, isForBrowsers, type: 'text/plain', content: contentOf(() => ''), isImmutable: false }
}

/** Made when it is first requested, and again where the gateway is mounted elsewhere. */
export function contentOf(text: (mountedAt: string) => string): StaticPage['content'] {
  return keepLast((mountedAt) => encoded(text(mountedAt)))
}

/** Keeps the last result: nearly all calls have the same argument. */
export function keepLast<T>(make: (argument: string) => T): (argument: string) => T {
  let last: { readonly argument: string; readonly result: T } | undefined
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: make(argument) }
    return last.result
  }
}

function encoded(text: string): Content {
  return { bytes: new TextEncoder().encode(text), tag: entityTag(text) }
}

/** Whether an `Accept-Encoding` takes gzip (RFC 9110 §12.5.3). */
export function acceptsGzip(acceptEncoding = ''): boolean {
  const codings = acceptEncoding.toLowerCase().split(',', maxCodings).map(readCoding)
  const found = codings.find(({ name }) => name === 'gzip') ?? codings.find(({ name }) => name === '*')
  return found !== undefined && found.quality > 0
}

/** Further codings are ignored. */
const maxCodings = 20

function readCoding(text: string): { readonly name: string; readonly quality: number } {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))
  return { name, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 }
}
