// Takes long: Chromium and all of the page.
/** The page at `/docs` in a browser. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { reasons } from '../../src/domain/fault.ts'
import { ops } from '../../src/domain/service.ts'
import { forms } from '../../src/forms/index.ts'
import { type DefaultGateway, startDefaultGateway } from '../examples/standard.ts'
import { overflow, violations } from '../operator/browser.ts'
import { sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { chooseForm, execute, input, operation, sample, unfold, visit } from './browser.ts'

let defaultGateway: DefaultGateway
let docs: string
beforeAll(async () => {
  defaultGateway = await startDefaultGateway()
  docs = `${defaultGateway.gateway}/docs`
})
afterAll(() => defaultGateway?.[Symbol.asyncDispose]())

const timeout = 120_000
const run = promisify(execFile)
const languages = [
  ['curl', ['sh', '-c']],
  ['TypeScript', [process.execPath, '--input-type=module-typescript', '-e']],
  ['Python', ['python3', '-c']],
] as const
const phone = { viewport: { width: 390, height: 844 } }
const desktop = { viewport: { width: 1280, height: 900 } }

describe('what is typed', { timeout }, () => {
  it('is sent to the sandbox in each form, and nothing is loaded from other hosts', async () => {
    await using visited = await visit(docs)
    const { page, requestedUrls, complaints } = visited
    await page.getByLabel('Key', { exact: true }).fill('sandbox-key-2')
    for (const { name } of forms) {
      await chooseForm(page, name.charAt(0).toUpperCase() + name.slice(1))
      const created = await execute(operation(page, name, 'createTransaction'))
      expect(created.status).toMatch(/^20[01] /)
      const { id } = JSON.parse(created.body) as { readonly id: string }
      const one = await execute(operation(page, name, 'getTransaction'))
      expect(one.status).toMatch(/^200 /)
      expect(one.body).toContain(id)
    }
    expect(new Set(requestedUrls.map((url) => new URL(url).origin))).toEqual(new Set([defaultGateway.gateway]))
    expect(complaints).toEqual([])
  })

  it('keeps its digits in the sample, in what is sent and in what is shown', async () => {
    await using visited = await visit(docs)
    const { page } = visited
    await chooseForm(page, 'B')
    const part = operation(page, 'B', 'createTransaction')
    await (await input(part, 'amount')).fill('0.1000')
    expect(await sample(part)).toContain('"amount": 0.1000,')
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    const { status, body } = await execute(part)
    expect((await sent).postData()).toContain('"amount": 0.1000,')
    expect([status, body]).toEqual([expect.stringMatching(/^200 /), expect.stringContaining('"amount_in": 0.1000,')])
  })

  it('is in the sample of each language, and the samples run', async () => {
    await using visited = await visit(docs)
    const { page } = visited
    await chooseForm(page, 'B')
    const part = operation(page, 'B', 'getRate')
    await (await input(part, 'amount')).fill('0.25')
    await (await input(part, 'X-Request-Id')).fill('typed-by-me')
    for (const [language, command] of languages) {
      await part.getByRole('button', { name: language }).click()
      const text = await sample(part)
      expect(text).toContain('amount=0.25')
      expect(text).toContain('typed-by-me')
      const [program, ...options] = command
      expect((await run(program, [...options, text])).stdout).toMatch(/fromAmount['"]: ?(?:0\.25|Decimal\('0\.25'\))/)
    }
  })

  it('is a stream that is shown as it comes, until it ends or is stopped, and its samples run', async () => {
    await using visited = await visit(docs)
    const { page, complaints } = visited
    await page.getByLabel('Key', { exact: true }).fill('sandbox-key-2')
    for (const [form, amount] of [
      ['A', '0.11'],
      ['B', '0.12'],
    ] as const) {
      await chooseForm(page, form)
      const create = operation(page, form, 'createTransaction')
      await (await input(create, 'amount')).fill(amount)
      const created = JSON.parse((await execute(create)).body) as Readonly<Record<string, string>>
      const { id, depositAddress = created.deposit_address } = created
      const part = operation(page, form, 'watchTransaction')
      const result = part.locator('.result')
      await part.getByRole('button', { name: 'Send' }).click()
      await expect.poll(() => result.innerText()).toContain(`event: transaction\nid: 1\ndata: {"id":"${id}"`)
      expect(await result.locator('.status').innerText()).toMatch(/^200 /)
      await part.getByRole('button', { name: 'Stop' }).click()
      await expect.poll(() => result.innerText()).toMatch(/Stopped\.$/)
      expect(await part.getByRole('button', { name: 'Stop' }).isVisible()).toBe(false)
      await part.getByRole('button', { name: 'Send' }).click()
      const paid = await fetch(`${defaultGateway.sandbox}/sandbox/deposits`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ depositAddress }),
      })
      expect(paid.ok).toBe(true)
      await expect.poll(() => result.innerText(), { timeout: 30_000 }).toMatch(/"status":"success"[\s\S]*The stream has ended\.$/)
      for (const [language, command] of languages) {
        await part.getByRole('button', { name: language }).click()
        const [program, ...options] = command
        expect((await run(program, [...options, await sample(part)])).stdout).toMatch(
          /event: transaction\nid: \d+\ndata: \{.*"success"/,
        )
      }
    }
    expect(complaints).toEqual([])
  })

  it('is still there after another form was shown, and is in the fields that both have', async () => {
    await using visited = await visit(docs)
    const { page } = visited
    await page.getByLabel('Key', { exact: true }).fill('my key')
    await (await input(operation(page, 'A', 'createTransaction'), 'amount')).fill('0.3')
    await (await input(operation(page, 'A', 'createTransaction'), 'coinTo')).fill('DOGE')
    await chooseForm(page, 'B')
    const inB = operation(page, 'B', 'createTransaction')
    expect(await sample(inB)).toMatch(/-H 'X-API-Key: my key'[\s\S]*"amount": 0\.3,/)
    await chooseForm(page, 'A')
    expect(await sample(operation(page, 'A', 'createTransaction'))).toMatch(
      /-H 'Authorization: Bearer my key'[\s\S]*"coinTo": "DOGE",\n {2}"amount": 0\.3,/,
    )
  })

  it('is a new create with another body, and the same create with the same one', async () => {
    await using visited = await visit(docs)
    const { page } = visited
    const part = operation(page, 'A', 'createTransaction')
    const idOf = async (): Promise<string> => (JSON.parse((await execute(part)).body) as { readonly id: string }).id
    const first = await idOf()
    expect(await idOf()).toBe(first)
    await (await input(part, 'amount')).fill('0.11')
    expect(await idOf()).not.toBe(first)
  })

  it('is refused with a link to the reason', async () => {
    await using visited = await visit(docs)
    const { page } = visited
    const part = operation(page, 'A', 'getRate')
    await (await input(part, 'coinTo')).fill('NOBODY')
    expect((await execute(part)).status).toMatch(/^400 .* unknown_asset$/)
    await part.locator('.status a').click()
    await expect.poll(() => page.url()).toBe(`${docs}#unknown_asset`)
    expect(await page.locator('#unknown_asset').evaluate((element) => element.matches(':target'))).toBe(true)
  })
})

describe('a swap of the sandbox', { timeout }, () => {
  it.each(forms.map(({ name }) => name))('in form %s is paid, held, failed and sent back by buttons beside it', async (form) => {
    await using visited = await visit(docs)
    const { page, complaints } = visited
    await page.getByLabel('Key', { exact: true }).fill('sandbox-key-2')
    await chooseForm(page, form.charAt(0).toUpperCase() + form.slice(1))
    const part = operation(page, form, 'createTransaction')
    await (await input(part, 'amount')).fill('0.13')
    const { id } = JSON.parse((await execute(part)).body) as { readonly id: string }
    const press = async (name: string): Promise<string> => {
      const answered = page.waitForResponse((response) => response.url().endsWith('/sandbox'))
      await part.getByRole('button', { name }).click()
      const response = await answered
      expect([response.status(), response.request().method()]).toEqual([200, 'POST'])
      await expect.poll(() => part.locator('.result .body').innerText()).toContain(id)
      return await response.text()
    }
    await press('Hold it')
    await press('Pay it')
    if (form !== 'exolix') expect(await press('Hold it')).toContain('"attention":"held"')
    await press('Let it fail')
    expect(await press('Ask for a refund')).toContain('"status":"refunded"')
    expect(complaints).toEqual([])
  })

  it('has no such buttons before something was sent', async () => {
    await using visited = await visit(docs)
    expect(await visited.page.getByRole('button', { name: 'Pay it' }).count()).toBe(0)
  })
})

describe('how it is read', { timeout }, () => {
  it.each([
    ['light', desktop],
    ['dark', desktop],
    ['light', phone],
    ['dark', phone],
  ] as const)(
    'axe finds nothing in %s, nothing scrolls sideways, and an operation is at most two screens (%j)',
    async (colorScheme, size) => {
      await using visited = await visit(docs, { ...size, colorScheme })
      const { page } = visited
      for (const { name } of forms) {
        await chooseForm(page, name.charAt(0).toUpperCase() + name.slice(1))
        expect(await violations(page)).toEqual([])
        expect(await overflow(page)).toBe(0)
        for (const op of ops) {
          const height = (await operation(page, name, op).boundingBox())?.height
          expect([name, op, Number(height) < 2 * size.viewport.height]).toEqual([name, op, true])
        }
      }
      await execute(operation(page, 'exolix', 'createTransaction'))
      await unfold(page)
      expect([await violations(page), await overflow(page)]).toEqual([[], 0])
    },
  )

  it('has all of its text without JavaScript, in every form', async () => {
    await using visited = await visit(docs, { ...phone, javaScriptEnabled: false })
    const { page } = visited
    expect(await overflow(page)).toBe(0)
    const text = await page.locator('body').innerText()
    for (const reason of reasons) expect(await page.locator(`section[id="${reason}"]`).isVisible()).toBe(true)
    for (const form of forms)
      for (const op of ops) {
        const { method, path, requestCodec } = form.operations[op]
        expect(text).toContain(`${method} ${path.pattern}`)
        const part = operation(page, form.name, op)
        const shown = await part.innerText()
        for (const { name } of requestCodec.slots) expect(shown).toContain(name)
        for (const word of ['curl -sS', 'await fetch(', 'urllib.request.Request(']) expect(shown).toContain(word)
        const isCreate = op === 'createTransaction'
        for (const word of ['Idempotent-Replayed', "-H 'Idempotency-Key: <a new one for each swap>'"])
          expect([word, shown.includes(word)]).toEqual([word, isCreate])
        expect(await part.locator('a[href="#parameter_invalid"]').first().isVisible()).toBe(true)
        for (const reason of ['mismatch', 'outcome_unknown', 'address_invalid'])
          expect(await part.locator(`a[href="#${reason}"]`).count()).toBe(isCreate ? 1 : 0)
      }
    for (const form of ['A', 'B']) {
      const shown = await operation(page, form, 'watchTransaction').innerText()
      for (const word of ['GET /transactions/{id}/events', 'Last-Event-ID', 'curl -sS -i -N', 'event: transaction'])
        expect(shown).toContain(word)
      expect(await page.locator(`nav a[href="#${form.toLowerCase()}-watchTransaction"]`).innerText()).toBe('Changes of a swap')
    }
  })

  it('is searched in its text, and moved through by keyboard', async () => {
    await using visited = await visit(docs)
    const { page } = visited
    await page.keyboard.press('/')
    await page.keyboard.type('withdrawaladdress')
    const links = page.locator('nav li a:visible')
    expect(await links.allInnerTexts()).toEqual(expect.arrayContaining(['Create a swap', 'Your swaps']))
    expect(await links.allInnerTexts()).not.toContain('Coins')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toContain('#a-')
    await page.getByRole('radio', { name: 'A', exact: true }).focus()
    await page.keyboard.press('ArrowRight')
    expect(await page.locator('article:visible').getAttribute('id')).toBe('form-b')
  })

  it('a link to an operation of another form shows that form', async () => {
    await using visited = await visit(`${docs}#exolix-getRate`)
    expect(await operation(visited.page, 'exolix', 'getRate').isVisible()).toBe(true)
    expect(await operation(visited.page, 'A', 'getRate').isVisible()).toBe(false)
  })
})

describe('how it is served', () => {
  it('with a strict policy and lasting files, in 300 kB', async () => {
    const get = (path: string): Promise<Response> => fetch(defaultGateway.gateway + path)
    const page = await get('/docs')
    const header = (name: string): string => page.headers.get(name) ?? ''
    expect([page.status, header('content-type'), header('cache-control')]).toEqual([200, 'text/html; charset=utf-8', 'no-cache'])
    expect(header('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/,
    )
    expect(header('content-security-policy')).not.toContain('unsafe')
    const text = await page.text()
    expect(text).not.toMatch(/<script(?! type="module" src=")|<style| style=| on[a-z]+=/)
    let size = gzipSync(text).length
    const files = [...text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => `/${path}`)
    expect(files).toHaveLength(2)
    for (const path of [...files, `${files[1]?.replace('main.js', 'samples.js')}`]) {
      const response = await get(path)
      expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
        200,
        `text/${path.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
        'public, max-age=31536000, immutable',
      ])
      size += gzipSync(await response.text()).length
    }
    expect(size).toBeLessThan(300_000)
  })

  it('refuses what it is not for', async () => {
    for (const path of ['/docs/index.html', '/docs/../package.json', '/docs/%2e%2e/package.json', '/DOCS'])
      expectRefusal(await sendRequest(defaultGateway.gateway, { path }), 'A', 404)
    const post = await sendRequest(defaultGateway.gateway, { path: '/docs', method: 'POST' })
    expectRefusal(post, 'A', 405)
    expect(post.headers.allow).toBe('GET, HEAD, OPTIONS')
  })

  test.each([
    ['/', '/docs'],
    ['/a', '/docs#form-a'],
    ['/b', '/docs#form-b'],
    ['/exolix', '/docs#form-exolix'],
  ])('%s leads a browser to the page, and is 404 for a program', async (path, target) => {
    const { status, headers } = await sendRequest(defaultGateway.gateway, { path, headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([status, headers.vary]).toEqual([302, 'accept'])
    expect(new URL(String(headers.location), defaultGateway.gateway + path).href).toBe(defaultGateway.gateway + target)
    for (const accept of ['*/*', 'application/json'])
      expect((await sendRequest(defaultGateway.gateway, { path, headers: { accept } })).status).toBe(404)
  })

  it('/docs/ leads to the page', async () => {
    const { status, headers } = await sendRequest(defaultGateway.gateway, { path: '/docs/' })
    expect([status, new URL(String(headers.location), `${docs}/`).href]).toEqual([302, docs])
  })
})
