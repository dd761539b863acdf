import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { contentOf } from '../../wire/static-page.ts'
import { withGzip } from './gzip.ts'

const page = { path: '/docs', type: 'text/html', content: contentOf(() => 'a page'), isImmutable: false }

it('compresses a page once, for all who ask for it', async () => {
  const { gzip } = withGzip(page)
  const [first, second] = await Promise.all([gzip?.(), gzip?.()])
  expect(gunzipSync(first?.bytes ?? '').toString()).toBe('a page')
  expect(second).toBe(first)
})

it('gives the compressed bytes a tag of their own', async () => {
  expect((await withGzip(page).gzip?.())?.tag).toBe(page.content().tag.replace(/"$/, '-gzip"'))
})
