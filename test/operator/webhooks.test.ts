// Takes long: Chromium, over a ledger of the test's own.
/** docs/contract.md §18.3, docs/contract-operators.md §15: webhooks are added, tried, rotated and removed on the operator's page, by whoever may. */
import { randomBytes } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { type Visit, visit } from '../api-docs-page/browser.ts'
import { facts } from '../ledger/samples.ts'
import { type Received, Receiver } from '../webhooks/receiver.ts'
import { dialogOf, overflow, show, signIn, violations } from './browser.ts'
import { operatorsToken, readersToken, serveApi, token } from './served.ts'

let stores: OpenLedger
let receiver: Receiver
let api: Awaited<ReturnType<typeof serveApi>>
const open = new AsyncDisposableStack()
beforeAll(async () => {
  receiver = open.use(await Receiver.start())
  stores = await openLedger('sqlite::memory:')
  open.defer(stores.close)
  for (const name of ['acme', 'globex']) await stores.accounts.changeLimits(name, { read: 9 }, 1, 'tester')
  const allow = [`http://127.0.0.1:${receiver.port}`]
  api = open.use(
    await serveApi(stores, {
      defaultForm: 'A',
      webhooks: { key: [randomBytes(32).toString('base64')], allow },
      providers: [],
      routing: { strategy: 'priority', providers: [] },
      redis: { url: '' },
    }),
  )
}, 30_000)
afterAll(() => open.disposeAsync())
beforeEach(async () => {
  for (const { id } of await stores.webhooks.list()) await stores.webhooks.remove(id, 1, 'tester')
})

async function signedIn(own: string, width = 1280): Promise<Visit> {
  const visited = await visit(`${api.url}/`, { viewport: { width, height: 800 } })
  await signIn(visited.page, own)
  await show(visited.page, 'Webhooks')
  return visited
}

const listed = (page: Page): Locator => page.getByRole('table', { name: 'Webhooks' })
const press = (page: Page, name: string): Promise<void> => dialogOf(page).getByRole('button', { name, exact: true }).click()

interface Row {
  readonly id: string
  readonly url: string
  readonly form: string
}

async function rows(): Promise<readonly Row[]> {
  return JSON.parse((await api.call('GET', '/webhooks')).text) as Row[]
}

async function add(path: string): Promise<Row> {
  const body = { account: 'acme', url: `http://127.0.0.1:${receiver.port}${path}` }
  return JSON.parse((await api.call('POST', '/webhooks', body)).text) as Row
}

const isSignedBy = ({ body, headers }: Received, secret: string): boolean => {
  try {
    return Boolean(new Webhook(secret).verify(body, headers as Record<string, string>))
  } catch {
    return false
  }
}

async function secretIn(page: Page): Promise<string> {
  const field = dialogOf(page).getByLabel('Secret')
  await field.waitFor()
  return await field.inputValue()
}

describe.each([1280, 390])('at %i pixels', (width) => {
  it('one is added, tried, rotated and removed; each secret is shown once', async () => {
    await using visited = await signedIn(token, width)
    const { page } = visited
    const url = `http://127.0.0.1:${receiver.port}/of-${width}`
    const fits = async () => expect([await overflow(page), await violations(page)]).toEqual([0, []])

    await page.getByRole('button', { name: 'New webhook…' }).click()
    await fits()
    await dialogOf(page).getByLabel('Account').fill('acme')
    await dialogOf(page).getByLabel('URL').fill('https://10.0.0.1/')
    await press(page, 'Add the webhook')
    await expect.poll(() => dialogOf(page).getByRole('alert').innerText()).toContain('its address is not public')
    expect(await rows()).toEqual([])
    await dialogOf(page).getByLabel('URL').fill(url)
    await dialogOf(page).getByLabel('Form').fill('b')
    await press(page, 'Add the webhook')
    const secret = await secretIn(page)
    expect(secret).toMatch(/^whsec_/)
    await fits()
    await press(page, 'Close')
    const [added] = await rows()
    expect(added).toMatchObject({ url, form: 'B' })
    const details = listed(page).getByRole('button', { name: `Details of ${added?.id}` })
    await details.click()
    await fits()
    expect(await page.content()).not.toContain(secret)
    const shown = listed(page)

    const before = receiver.received.length
    await shown.getByRole('button', { name: `Test ${added?.id}` }).click()
    await press(page, 'Send the test')
    await expect.poll(() => page.getByRole('status').innerText()).toContain('200')
    await shown.getByRole('button', { name: `Rotate ${added?.id}` }).click()
    await dialogOf(page).getByLabel('Overlap').fill('8d')
    await press(page, 'Make another secret')
    await expect.poll(() => dialogOf(page).getByRole('alert').innerText()).toContain('at most 7d')
    await dialogOf(page).getByLabel('Overlap').fill('1h')
    await press(page, 'Make another secret')
    const next = await secretIn(page)
    expect(await dialogOf(page).innerText()).toContain('The secret before signs too until')
    await fits()
    await press(page, 'Close')
    await shown.getByRole('button', { name: `Test ${added?.id}` }).click()
    await press(page, 'Send the test')
    await expect.poll(() => receiver.received.length).toBe(before + 2)
    const sent = receiver.received.slice(before)
    expect(sent.map((one) => [isSignedBy(one, secret), isSignedBy(one, next)])).toEqual([
      [true, false],
      [true, true],
    ])

    await shown.getByRole('button', { name: `Remove ${added?.id}` }).click()
    expect(await dialogOf(page).innerText()).toContain('Nothing waits for it now.')
    await fits()
    await press(page, 'Remove the webhook')
    await page.getByText('No account has a webhook.').waitFor()
    expect(await rows()).toEqual([])
    expect((await stores.audit.read({})).slice(0, 5).map(({ actor, action }) => [actor, action])).toEqual([
      ['alice', 'webhook.remove'],
      ['alice', 'webhook.test'],
      ['alice', 'webhook.rotate'],
      ['alice', 'webhook.test'],
      ['alice', 'webhook.add'],
    ])
  })
})

it.each([
  ['read', readersToken, []],
  ['read and operate', operatorsToken, ['Test']],
])('with the roles %s the buttons beyond them are off and say why, and the URL is shortened', async (_, own, may) => {
  const { id, url } = await add('/secret-of-the-path')
  await using visited = await signedIn(own)
  const { page } = visited
  const { origin } = new URL(url)
  await listed(page)
    .getByRole('link', { name: `${origin}/sec…`, exact: true })
    .waitFor()
  await listed(page)
    .getByRole('button', { name: `Details of ${id}` })
    .click()
  expect(await page.content()).not.toContain('secret-of-the-path')
  for (const name of ['New webhook…', `Test ${id}`, `Rotate ${id}`, `Remove ${id}`]) {
    const button = page.getByRole('button', { name, exact: true }).first()
    const isOn = may.some((one) => name.startsWith(one))
    expect(await button.getAttribute('aria-disabled'), name).toBe(isOn ? null : 'true')
    if (!isOn) expect(await button.getAttribute('title')).toMatch(/^Your token lacks the role (?:operate|money)$/)
    await button.click({ force: true })
    expect(await dialogOf(page).count(), name).toBe(isOn ? 1 : 0)
    if (isOn) await press(page, 'Cancel')
  }
})

it('deliveries are shown a hundred at a time, with a link to the older ones that keeps the filter', async () => {
  const { id } = await add('/hook')
  const { owner = '' } = (await stores.webhooks.find(id)) ?? {}
  for (let at = 0; at < 203; at++) await stores.ledger.upsert(owner, 'alpha', facts(`t${at}`))
  while ((await stores.events.number()).mayBeMore);
  await using visited = await signedIn(token)
  const { page } = visited
  await listed(page).getByRole('link').click()
  const deliveries = page.getByRole('table', { name: 'Deliveries' })
  const swaps = async () => {
    const texts = await deliveries.locator('.line').getByRole('link').allInnerTexts()
    return [texts.length, texts[0], texts.at(-1)]
  }
  await expect.poll(swaps).toEqual([100, 'alpha~t202', 'alpha~t103'])
  await page.getByRole('link', { name: 'Older' }).click()
  await expect.poll(swaps).toEqual([100, 'alpha~t102', 'alpha~t3'])
  await page.getByRole('link', { name: 'Older' }).click()
  await expect.poll(swaps).toEqual([3, 'alpha~t2', 'alpha~t0'])
  expect(await page.getByRole('link', { name: 'Older' }).count()).toBe(0)
  expect([await overflow(page), await violations(page)]).toEqual([0, []])
  await page.goBack()
  await expect.poll(swaps).toEqual([100, 'alpha~t102', 'alpha~t3'])
  await page.getByLabel('Only what has failed for good').check()
  await page.getByText('Nothing.').waitFor()

  await listed(page)
    .getByRole('button', { name: `Details of ${id}` })
    .click()
  await listed(page)
    .getByRole('button', { name: `Remove ${id}` })
    .click()
  expect(await dialogOf(page).innerText()).toContain('203 changes that wait for it now go with it.')
  await press(page, 'Remove the webhook')
  await page.getByText('No account has a webhook.').waitFor()
  expect(await page.getByRole('heading', { name: 'Deliveries' }).count()).toBe(0)
})
