/** node:zlib: compresses each page once, when a client first accepts gzip, since few processes ever show their pages. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { memoize } from '../../domain/async.ts'
import { type Content, keepLast, type StaticPage } from '../../wire/static-page.ts'

const compress = promisify(gzip)

/** Adds a gzip representation with its own ETag to the page (RFC 9110 §8.8.3). */
export function withGzip(page: StaticPage): StaticPage {
  const gzipOf = keepLast((mountedAt) => memoize(async () => compressed(page.content(mountedAt))))
  return { ...page, gzip: (mountedAt) => gzipOf(mountedAt)() }
}

async function compressed({ bytes, tag }: Content): Promise<Content> {
  return { bytes: await compress(bytes, { level: 9 }), tag: tag.replace(/"$/, '-gzip"') }
}
