// Takes long: Chromium and all of the page.
/** The page at `/docs` in a browser. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DefaultGateway, startDefaultGateway } from '../examples/standard.ts'
import { sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { authorize, chooseForm, execute, operation, visit } from './browser.ts'

let defaultGateway: DefaultGateway
beforeAll(async () => {
  defaultGateway = await startDefaultGateway()
})
afterAll(() => defaultGateway?.[Symbol.asyncDispose]())

it('shows each form, sends requests to the sandbox, and loads nothing from other hosts', async () => {
  await using visited = await visit(`${defaultGateway.gateway}/docs`)
  const { page, requestedUrls, complaints } = visited
  await page.locator('.info .title', { hasText: 'Form A' }).waitFor()

  await chooseForm(page, 'Form B')
  const rate = await execute(await operation(page, 'Quotes', 'getRate'))
  expect(rate.status).toBe('200')
  expect(JSON.parse(rate.body)).toMatchObject({ fromAmount: 0.1, toAmount: expect.any(Number) })

  await authorize(page, 'sandbox-key-1')
  const created = await execute(await operation(page, 'Swaps', 'createTransaction'))
  expect(created.status).toBe('200')
  expect(JSON.parse(created.body)).toMatchObject({ status: 'wait', coin_to: 'USDT', deposit_address: expect.any(String) })

  expect(new Set(requestedUrls.map((url) => new URL(url).origin))).toEqual(new Set([defaultGateway.gateway]))
  expect(complaints).toEqual([])
}, 300_000)

it('is served with a strict policy and lasting files, and refuses what it is not for', async () => {
  const get = (path: string): Promise<Response> => fetch(defaultGateway.gateway + path)
  const page = await get('/docs')
  const header = (name: string): string => page.headers.get(name) ?? ''
  expect([page.status, header('content-type'), header('cache-control')]).toEqual([200, 'text/html; charset=utf-8', 'no-cache'])
  expect(header('content-security-policy')).toMatch(/default-src 'none'; script-src 'self'; style-src 'self';/)
  expect(header('content-security-policy')).not.toContain('unsafe')
  const files = [...(await page.text()).matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => `/${path}`)
  expect(files.length).toBeGreaterThanOrEqual(4)
  for (const path of files) {
    const { status, headers } = await get(path)
    expect([status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
      200,
      `text/${path.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
      'nosniff',
    ])
    expect(headers.get('cache-control')).toBe(/\d/.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache')
  }
  for (const path of ['/docs/', '/docs/index.html', '/docs/../package.json', '/docs/%2e%2e/package.json', '/DOCS'])
    expectRefusal(await sendRequest(defaultGateway.gateway, { path }), 'A', 404)
  const post = await sendRequest(defaultGateway.gateway, { path: '/docs', method: 'POST' })
  expectRefusal(post, 'A', 405)
  expect(post.headers.allow).toBe('GET, HEAD, OPTIONS')
})
