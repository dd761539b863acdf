import { gunzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { contentOf } from '../../wire/static-page.ts'
import { withGzip } from './pages.ts'

const page = { path: '/docs', type: 'text/html', content: contentOf(() => 'a page'), isImmutable: false }

it('compresses a page once, for all who ask for it', async () => {
  const { gzip } = withGzip(page)
  const [first, second] = await Promise.all([gzip?.(''), gzip?.('')])
  expect(gunzipSync(first?.bytes ?? '').toString()).toBe('a page')
  expect(second).toBe(first)
})

it('gives the compressed bytes a tag of their own', async () => {
  expect((await withGzip(page).gzip?.(''))?.tag).toBe(page.content('').tag.replace(/"$/, '-gzip"'))
})

it('compresses it again for the next client if that failed', async () => {
  const content = vi.fn(page.content).mockReturnValueOnce({ bytes: 5 as unknown as Uint8Array, tag: '"x"' })
  const { gzip } = withGzip({ ...page, content })
  await expect(gzip?.('')).rejects.toThrow()
  expect(gunzipSync((await gzip?.(''))?.bytes ?? '').toString()).toBe('a page')
})
