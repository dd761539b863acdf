/** node:zlib: pages compressed once, at start, so that no request pays for it. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { StaticPage } from '../../wire/static-page.ts'

const compress = promisify(gzip)

/** The page with its gzip representation, which has a tag of its own (RFC 9110 §8.8.3). */
export async function withGzip(page: StaticPage): Promise<StaticPage> {
  const { bytes, tag } = page.content
  return { ...page, gzip: { bytes: await compress(bytes, { level: 9 }), tag: tag.replace(/"$/, '-gzip"') } }
}
