/** node:zlib: compresses pages once at start, not for each request. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { StaticPage } from '../../wire/static-page.ts'

const compress = promisify(gzip)

/** Adds a gzip representation with its own ETag to the page (RFC 9110 §8.8.3). */
export async function withGzip(page: StaticPage): Promise<StaticPage> {
  const { bytes, tag } = page.content
  return { ...page, gzip: { bytes: await compress(bytes, { level: 9 }), tag: tag.replace(/"$/, '-gzip"') } }
}
