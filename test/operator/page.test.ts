// Takes long: Chromium, and a page that shows what has changed seconds later.
/** docs/contract-operators.md §15: the operator's page in Chromium, on the admin port of a real gateway. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Visit, visit } from '../api-docs-page/browser.ts'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import { sendRequest } from '../support/client.ts'
import { cellOf, change, dialogOf, overflow, show, signIn, violations } from './browser.ts'

const token = 'operator-token-of-alice-0123456789'
const other = 'operator-token-of-bob-012345678901'
const reader = 'operator-token-of-carol-01234567890'
const order = { coinFrom: 'XRP', coinTo: 'USDTERC20', amount: 1, withdrawalAddress: '0xWithdraw123456789', rateType: 'float' }

let directory: string
let alpha: Provider
let gateway: GatewayProcess
let key: string
const open = new AsyncDisposableStack()

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-page-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['own-key-of-alpha'], journal: join(directory, 'alpha') }))
  const beta = open.use(
    await startProvider({ form: 'B', name: 'beta', keys: ['own-key-of-beta'], journal: join(directory, 'beta') }),
  )
  gateway = open.use(
    await GatewayProcess.start({
      directory,
      mode: 'managed',
      admin: { tokens: { alice: token, bob: other, carol: { token: reader, roles: ['read'] } } },
      providers: {
        alpha: { form: 'A', url: alpha.url, key: 'own-key-of-alpha', statuses: { broken: 'failed' } },
        beta: { form: 'B', url: beta.url, key: 'own-key-of-beta' },
      },
      sections: { routing: { strategy: 'weighted', providers: ['alpha', 'beta'], weights: { alpha: 1, beta: 0 } } },
    }),
  )
  key = await gateway.createKey('acme')
}, 60_000)
afterAll(() => open.disposeAsync())
beforeEach(async () => {
  const headers = { authorization: `Bearer ${token}` }
  expect((await sendRequest(gateway.adminUrl, { method: 'DELETE', path: '/api/overrides?force=true', headers })).status).toBe(200)
  await settleAll()
})

const send = (method: string, path: string, body?: unknown) =>
  sendRequest(gateway.url, {
    method,
    path: `/a/api/v2${path}`,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
const create = async (): Promise<string> => {
  const { status, text } = await send('POST', '/transactions', order)
  expect(status, text).toBe(201)
  return (JSON.parse(text) as { id: string }).id
}
/** The provider finishes the transaction, and its client reads that. */
const finish = async (id: string): Promise<void> => {
  await alpha.change(id.replace(/^alpha~/, ''), { status: 'success' })
  await expect.poll(async () => (await send('GET', `/transactions/${id}`)).text, { timeout: 20_000 }).toContain('success')
}
/** Nothing was made for the creates that need a person. */
const settleAll = async (): Promise<void> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { text } = await sendRequest(gateway.adminUrl, { path: '/api/unresolved', headers })
  for (const { intent } of JSON.parse(text) as readonly { readonly intent?: string }[]) {
    if (intent === undefined) continue
    const settled = { method: 'POST', path: `/api/unresolved/${intent}`, headers, body: '{"none":true}' }
    expect((await sendRequest(gateway.adminUrl, settled)).status).toBe(200)
  }
}
const signedIn = async (): Promise<Visit> => {
  const visited = await visit(`${gateway.adminUrl}/`)
  await signIn(visited.page, token)
  await cellOf(visited.page, 'alpha', 'State').waitFor()
  return visited
}
/** Chromium also notes refused requests of the API; those are wanted here. */
const own = ({ complaints }: Visit): readonly string[] => complaints.filter((text) => !text.startsWith('Failed to load resource'))

describe('signing in', () => {
  it('a wrong token shows the error, a right one the providers; the tab keeps it nowhere', async () => {
    await using visited = await visit(`${gateway.adminUrl}/`)
    const { page } = visited
    await signIn(page, 'wrong')
    await expect.poll(() => page.getByRole('alert').innerText()).toBe('This token is not valid.')
    await signIn(page, 'no header cän hold this ✗')
    await expect.poll(() => page.getByRole('alert').innerText()).not.toBe('This token is not valid.')
    await signIn(page, ` ${token} `)
    await expect.poll(() => cellOf(page, 'alpha', 'State').innerText()).toBe('active')
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([0, 0, ''])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
    expect(await page.locator('body').innerText()).not.toContain('alpha')
    expect(own(visited)).toEqual([])
  })

  it('an answer about a swap that comes after its operator has signed out is not shown to the next one', async () => {
    const id = await create()
    await using visited = await visit(`${gateway.adminUrl}/#/swap/${encodeURIComponent(id)}`)
    const { page } = visited
    await signIn(page, token)
    await alpha.fault({ operation: 'get', held: true })
    await page.getByRole('button', { name: 'Ask the provider now' }).click()
    await page.getByRole('button', { name: 'Asking the provider…' }).waitFor()
    const answered = page.waitForResponse((response) => response.url().endsWith('/read'))
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, reader)
    await page.getByRole('list', { name: 'Timeline' }).waitFor()
    const view = page.getByRole('region', { name: 'Swap', exact: true })
    expect(await view.innerText()).toContain('0xWith…6789')
    await alpha.heal()
    await (await answered).finished()
    expect(await page.locator('body').innerText()).not.toContain(order.withdrawalAddress)
    expect(own(visited)).toEqual([])
    await finish(id)
  })

  it('a token that is taken out of the file ends what is shown', async () => {
    await using visited = await visit(`${gateway.adminUrl}/`)
    const { page } = visited
    await signIn(page, other)
    await cellOf(page, 'alpha', 'State').waitFor()
    const { file } = gateway
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, before.replace(`,"bob":"${other}"`, ''))
    await page.getByLabel('Token').waitFor({ timeout: 20_000 })
    expect(await page.getByRole('alert').innerText()).toBe('This token is not valid.')
    writeFileSync(file, before)
  })
})

describe('on a phone', () => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
  const kept = (page: Page): Promise<unknown> => page.evaluate('sessionStorage.length')

  it('a token without money stays over a reload, at the view that is shown, until an hour has passed without use', async () => {
    await using visited = await visit(`${gateway.adminUrl}/#/audit`, phone)
    const { page } = visited
    await page.clock.install()
    await signIn(page, reader)
    const log = page.getByRole('heading', { name: 'Audit log' })
    await log.waitFor()
    await page.reload()
    await log.waitFor()
    await page.clock.fastForward('59:00')
    await log.tap()
    await page.clock.fastForward('59:00')
    await page.reload()
    await log.waitFor()
    await page.clock.fastForward('01:00:01')
    expect(await kept(page)).toBe(0)
    await page.reload()
    await page.getByLabel('Token').waitFor()
    expect(own(visited)).toEqual([])
  })

  it('signing out forgets it', async () => {
    await using visited = await visit(`${gateway.adminUrl}/`, phone)
    const { page } = visited
    await signIn(page, reader)
    await cellOf(page, 'alpha', 'State').waitFor()
    expect(await kept(page)).toBe(1)
    await page.getByRole('button', { name: 'Sign out' }).click()
    expect(await kept(page)).toBe(0)
    await page.reload()
    await page.getByLabel('Token').waitFor()
  })

  it('one that is no token any more is forgotten', async () => {
    await using visited = await visit(`${gateway.adminUrl}/`, phone)
    const { page } = visited
    await signIn(page, reader)
    await cellOf(page, 'alpha', 'State').waitFor()
    await page.evaluate(
      `sessionStorage.setItem('swapgate-operator-token', JSON.stringify({ token: '${'x'.repeat(32)}', usedAt: Date.now() }))`,
    )
    await page.reload()
    await expect.poll(() => page.getByRole('alert').innerText()).toBe('This token is not valid.')
    expect(await kept(page)).toBe(0)
  })

  it('one with money is asked for again, unless admin.keepSession says so', async () => {
    await using visited = await visit(`${gateway.adminUrl}/`, phone)
    const { page } = visited
    await signIn(page, token)
    await cellOf(page, 'alpha', 'State').waitFor()
    expect(await kept(page)).toBe(0)
    await page.reload()
    await page.getByLabel('Token').waitFor()

    const before = readFileSync(gateway.file, 'utf8')
    onTestFinished(() => writeFileSync(gateway.file, before))
    const headers = { authorization: `Bearer ${token}` }
    const mayKeep = async () => (await sendRequest(gateway.adminUrl, { path: '/api/token', headers })).json
    writeFileSync(gateway.file, before.replace('"tokens":', '"keepSession":true,"tokens":'))
    await expect.poll(mayKeep, { timeout: 20_000 }).toMatchObject({ mayKeep: true })
    await signIn(page, token)
    await cellOf(page, 'alpha', 'State').waitFor()
    await page.reload()
    await cellOf(page, 'alpha', 'State').waitFor()
    writeFileSync(gateway.file, before)
    await expect.poll(mayKeep, { timeout: 20_000 }).toMatchObject({ mayKeep: false })
    await page.reload()
    await cellOf(page, 'alpha', 'State').waitFor()
    expect(await kept(page)).toBe(0)
  })
})

describe('providers', () => {
  it('draining: the dialog names what is open, what leaves no provider can be forced, the number falls, the audit log has it', async () => {
    const ids = [await create(), await create()]
    await using visited = await signedIn()
    const { page } = visited
    await expect.poll(() => cellOf(page, 'alpha', 'Open').innerText()).toBe('2')
    await page.getByRole('button', { name: 'Drain alpha' }).click()
    expect(await dialogOf(page).innerText()).toContain('2 transactions open at alpha now.')
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    expect(await cellOf(page, 'alpha', 'State').innerText()).toBe('active')

    await change(page, 'Drain alpha', 'Drain alpha')
    await expect.poll(() => page.getByRole('alert').innerText()).toBe('This leaves no provider for new swaps.')
    await dialogOf(page).getByRole('button', { name: 'Do it all the same' }).click()
    await expect.poll(() => cellOf(page, 'alpha', 'State').innerText()).toBe('draining')
    expect(await page.getByRole('status').innerText()).toBe('alpha is draining.')
    await expect
      .poll(() => page.getByRole('table', { name: 'Recent changes' }).innerText())
      .toMatch(/alice\s+provider\.state\s+alpha/)

    for (const [at, id] of ids.entries()) {
      await finish(id)
      await expect.poll(() => cellOf(page, 'alpha', 'Open').innerText()).toBe(String(1 - at))
      expect(await cellOf(page, 'alpha', 'Open').getByRole('progressbar').getAttribute('aria-label')).toBe(
        `${1 - at} transaction${at === 0 ? '' : 's'} of 2 still open at alpha`,
      )
    }
    await change(page, 'Activate alpha', 'Activate alpha')
    await expect.poll(() => cellOf(page, 'alpha', 'State').innerText()).toBe('active')
    expect(own(visited)).toEqual([])
  })

  it('weights are changed together, and go back to the file', async () => {
    await using visited = await signedIn()
    const { page } = visited
    await page.getByRole('button', { name: 'Weights…' }).click()
    await dialogOf(page).getByLabel('beta').fill('3')
    await dialogOf(page).getByRole('button', { name: 'Change the weights' }).click()
    await expect.poll(() => cellOf(page, 'beta', 'Weight').innerText()).toBe('3')
    await change(page, 'Back to the file: weights', 'Back to the file')
    await expect.poll(() => cellOf(page, 'beta', 'Weight').innerText()).toBe('0')
  })

  it('a change that another makes appears, and is announced', async () => {
    await using visited = await signedIn()
    const { page } = visited
    await gateway.command('providers', 'drain', 'beta')
    await expect.poll(() => cellOf(page, 'beta', 'State').innerText()).toBe('draining')
    await expect.poll(() => page.getByRole('status').innerText()).toContain('beta is draining.')
  })

  it('an asset that three mismatches took out is shown with their figures, and offered again', async () => {
    await alpha.fault({ operation: 'create', swap: 'amount', times: 3 })
    for (let at = 0; at < 3; at++) expect((await send('POST', '/transactions', order)).status).toBe(502)
    await using visited = await signedIn()
    const { page } = visited
    const suspended = page.getByRole('list', { name: 'Suspended assets' })
    expect(await suspended.innerText()).toMatch(/^XRP on XRP is out of new swaps at alpha since .+ until .+ of amount\./)
    await expect.poll(() => cellOf(page, 'alpha', 'Refused, counted').innerText()).toBe('3, 0')
    expect(await cellOf(page, 'alpha', 'Off its quotes').innerText()).toMatch(/%|–/)
    expect([await overflow(page), await violations(page)]).toEqual([0, []])
    await page.getByRole('button', { name: 'Offer again at alpha: XRP' }).click()
    expect(await dialogOf(page).innerText()).toContain('New swaps of XRP go to alpha again')
    await dialogOf(page).getByRole('button', { name: 'Offer again' }).click()
    await suspended.waitFor({ state: 'detached' })
    await expect.poll(() => page.getByRole('table', { name: 'Recent changes' }).innerText()).toContain('provider.resume')
    await finish(await create())
    expect(own(visited)).toEqual([])
  })

  it('by keyboard alone: sign in, drain, and the focus is back on the button', async () => {
    await using visited = await visit(`${gateway.adminUrl}/`)
    const { page } = visited
    await page.locator('input:focus').waitFor()
    await page.keyboard.type(token)
    await page.keyboard.press('Enter')
    await cellOf(page, 'beta', 'State').waitFor()
    const focused = (): Promise<string> => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent')
    const tabTo = async (name: string): Promise<void> => {
      for (let presses = 0; (await focused()).trim() !== name; presses++) {
        expect(presses).toBeLessThan(30)
        await page.keyboard.press('Tab')
      }
    }
    await tabTo('Drain beta')
    await page.keyboard.press('Enter')
    await dialogOf(page).waitFor()
    expect(await focused()).toBe('Drain beta')
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'hidden' })
    expect(await focused()).toBe('Drain beta')
    await page.keyboard.press('Enter')
    await dialogOf(page).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => cellOf(page, 'beta', 'State').innerText()).toBe('draining')
    expect(await focused()).toBe('Drain beta')
  })

  it('a dialog that is opened at once after another was closed is not empty', async () => {
    await using visited = await signedIn()
    const { page } = visited
    const button = 'document.querySelector(\'[aria-label="Drain beta"]\')'
    await page.evaluate(`${button}.click()`)
    await page.evaluate(`document.getElementById('dialog').close(); ${button}.click()`)
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))')
    expect(await dialogOf(page).getByRole('button').count()).toBe(2)
  })
})

describe('what the ledger holds', () => {
  it('a create of unknown outcome is shown and settled', async () => {
    await using visited = await signedIn()
    const { page } = visited
    await alpha.fault({ operation: 'create', before: 'reset' })
    expect((await send('POST', '/transactions', order)).status).toBe(504)
    await expect.poll(() => page.title()).toBe('(1) swapgate: operator')
    await page.getByText('the connection broke off').waitFor()
    await page.getByRole('link', { name: '1 create at alpha' }).click()
    expect(page.url()).toContain('#/person?kind=create&provider=alpha&reason=')
    const creates = page.getByRole('table', { name: 'What needs a person' })
    await creates.waitFor()

    await creates.getByRole('button', { name: /^Bind/ }).click()
    await dialogOf(page).getByLabel('Id of the transaction at alpha').fill('nothing')
    await dialogOf(page).getByRole('button', { name: 'Bind' }).click()
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('has no transaction nothing')
    expect(await dialogOf(page).getByRole('button').allInnerTexts()).toEqual(['Cancel', 'Bind'])
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()

    await creates.getByRole('button', { name: /^None/ }).click()
    await dialogOf(page).getByRole('button', { name: 'Nothing was created' }).click()
    await page.getByText('Every create has an outcome.').waitFor()
    expect(await page.getByRole('status').innerText()).toContain('nothing was created')
    expect(own(visited)).toEqual([])
  })

  it('a create that may still run stays on the page of its link when its outcome is unknown', async () => {
    await alpha.fault({ operation: 'create', before: 'reset', delay: 6_000 })
    const sent = send('POST', '/transactions', order)
    await using visited = await signedIn()
    const { page } = visited
    await page.getByText('may still run').waitFor()
    await page.getByRole('link', { name: '1 create at alpha' }).click()
    const creates = page.getByRole('table', { name: 'What needs a person' })
    expect(await creates.innerText()).toContain('may still run')
    expect((await sent).status).toBe(504)
    await expect.poll(() => creates.innerText(), { timeout: 20_000 }).toContain('the connection broke off')
  })

  it('creates with one cause are settled together, with one confirmation that shows what it settles', async () => {
    await using visited = await signedIn()
    const { page } = visited
    const database = new DatabaseSync(join(directory, 'ledger.db'), { timeout: 5_000 })
    onTestFinished(() => database.close())
    const leaveOpen = (intent: string) =>
      database.exec(`INSERT INTO transactions (intent, owner, provider, state, unknown_reason, attempted_at, requested)
        SELECT '${intent}', id, 'alpha', 'unknown', 'reset', 1, '{"amountIn":"1","withdrawalAddress":"0x1"}' FROM accounts WHERE name = 'acme'`)
    for (const intent of ['made-1', 'made-2', 'made-3']) leaveOpen(intent)
    await show(page, 'Needs a person')
    await page.getByRole('button', { name: /^Settle together: 3 creates at alpha/ }).click({ timeout: 20_000 })
    const dialog = dialogOf(page)
    await dialog.getByLabel('Outcome').selectOption('none')
    await dialog.getByLabel('Note').fill('<b>ticket 7</b>')
    await dialog.getByLabel('Before').fill('tomorrow')
    await dialog.getByRole('button', { name: 'Show what it settles' }).click()
    await expect.poll(() => dialog.getByRole('alert').innerText()).toContain('must be a date')
    await dialog.getByLabel('Before').fill('')
    await dialog.getByRole('button', { name: 'Show what it settles' }).click()
    await dialog.getByRole('heading', { name: 'Settle 3 creates at alpha?' }).waitFor()
    expect(await dialog.innerText()).toMatch(/its client may swap twice\.[\s\S]*3 creates of acme: reset/)
    expect(await violations(page)).toEqual([])
    const lines = page.locator('tr.line')
    expect(await lines.count()).toBe(3)
    leaveOpen('made-4')
    await dialog.getByRole('button', { name: 'Settle 3 creates' }).click()
    await dialog.getByRole('heading', { name: '3 creates settled' }).waitFor()
    expect(await dialog.innerText()).toContain('None is left.')
    expect(await violations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => lines.count()).toBe(1)
    await show(page, 'Audit log')
    await expect.poll(() => page.getByRole('table', { name: 'Audit log' }).innerText()).toContain('<b>ticket 7</b>')
    expect(own(visited)).toEqual([])
  })

  it('from the request id of a create that failed it is one step to the cause', async () => {
    await using visited = await signedIn()
    const { page } = visited
    await alpha.fault({ operation: 'create', before: 'reset' })
    const { status, headers } = await send('POST', '/transactions', order)
    expect(status).toBe(504)
    await page.getByLabel('Find swaps').fill(String(headers['x-request-id']))
    await page.keyboard.press('Enter')
    const timeline = page.getByRole('list', { name: 'Timeline' })
    await timeline.waitFor()
    const readAgain = async () => {
      await page.getByRole('button', { name: 'Read again' }).click()
      return timeline.innerText()
    }
    await expect.poll(readAgain, { timeout: 20_000, interval: 500 }).toMatch(/create_transaction at alpha:\s+no response, failed/)
    await expect
      .poll(async () => (await readAgain()) && (await page.locator('.verdict').innerText()))
      .toMatch(/the connection broke off: this needs a person\. .*no response/)
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: /^None for/ }).click()
    await dialogOf(page).getByRole('button', { name: 'Nothing was created' }).click()
    await expect.poll(() => page.getByRole('status').innerText()).toContain('nothing was created')
    expect(own(visited)).toEqual([])
  })

  it('a key is made, shown once, and revoked', async () => {
    await using visited = await signedIn()
    const { page } = visited
    await show(page, 'Accounts and keys')
    await page.getByRole('button', { name: 'New key…' }).first().click()
    const dialog = dialogOf(page)
    await dialog.getByLabel('Account').fill('<i>globex</i>')
    await dialog.getByLabel('Ends after').fill('90d')
    await dialog.getByRole('button', { name: 'Make the key' }).click()
    const issued = dialog.getByLabel('Key', { exact: true })
    await issued.waitFor()
    const secret = await issued.inputValue()
    const use = () => sendRequest(gateway.url, { path: '/a/api/v2/transactions', headers: { authorization: `Bearer ${secret}` } })
    expect((await use()).status).toBe(200)
    expect(await violations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Close' }).click()
    expect(await page.content()).not.toContain(secret)
    expect(
      await page.locator('input').evaluateAll((inputs) => inputs.map((input) => (input as unknown as { value: string }).value)),
    ).not.toContain(secret)
    const keys = page.getByRole('table', { name: 'Keys' })
    await keys.getByRole('row', { name: '<i>globex</i>' }).waitFor()
    await page.getByLabel('Account or id').fill('globex')
    await page.keyboard.press('Enter')
    const revoke = page.getByRole('button', { name: /^Revoke / })
    await expect.poll(() => revoke.count()).toBe(1)
    await revoke.click()
    await dialog.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('No key has this.').waitFor()
    await expect.poll(async () => (await use()).status).toBe(401)
    await page.getByLabel('Also expired and revoked keys').check()
    await expect.poll(() => keys.innerText()).toContain('revoked')
    expect(own(visited)).toEqual([])
  })

  it('a key is rotated: the other one is shown once, and the one before ends after the overlap', async () => {
    await using visited = await signedIn()
    const { page } = visited
    const before = await gateway.createKey('hooli')
    await show(page, 'Accounts and keys')
    await page.getByLabel('Account or id').fill('hooli')
    await page.keyboard.press('Enter')
    const rotate = page.getByRole('button', { name: /^Rotate / })
    await expect.poll(() => rotate.count()).toBe(1)
    await rotate.click()
    const dialog = dialogOf(page)
    await dialog.getByLabel('Overlap').fill('0')
    await dialog.getByRole('button', { name: 'Make another key' }).click()
    const issued = dialog.getByLabel('Key', { exact: true })
    await issued.waitFor()
    const use = (key: string) =>
      sendRequest(gateway.url, { path: '/a/api/v2/transactions', headers: { authorization: `Bearer ${key}` } })
    expect((await use(await issued.inputValue())).status).toBe(200)
    await expect.poll(async () => (await use(before)).status).toBe(401)
    expect(await violations(page)).toEqual([])
    expect(own(visited)).toEqual([])
  })

  it('a key has a scope and networks; limits of an account are set, one is taken back, and the key keeps to them', async () => {
    await using visited = await signedIn()
    const { page } = visited
    await show(page, 'Accounts and keys')
    const dialog = dialogOf(page)
    await page.getByRole('button', { name: 'New account…' }).click()
    await dialog.getByLabel('Account').fill('initech')
    await dialog.getByLabel('Reads').fill('2')
    await dialog.getByLabel('Streams').fill('50')
    await dialog.getByRole('button', { name: 'Make the account' }).click()
    const row = page.getByRole('table', { name: 'Accounts' }).locator('tr[data-row="initech"]')
    await row.getByText('reads 2, streams 50').waitFor()
    await page
      .getByRole('table', { name: 'Accounts' })
      .locator('tr[data-row="acme"]')
      .getByText(/^[\d,]+ swaps?, /)
      .waitFor()
    await row.getByRole('button', { name: 'New key of initech' }).click()
    await dialog.getByLabel('creates').uncheck()
    await dialog.getByLabel('the native lane').uncheck()
    await dialog.getByLabel('Only from').fill('127.0.0.0/8, ::1')
    await dialog.getByRole('button', { name: 'Make the key' }).click()
    const issued = dialog.getByLabel('Key', { exact: true })
    await issued.waitFor()
    const secret = await issued.inputValue()
    await dialog.getByRole('button', { name: 'Close' }).click()
    const line = page.getByRole('table', { name: 'Keys' }).locator('tr.line', { hasText: `…${secret.slice(-4)}` })
    await line.getByText('quote, read; 127.0.0.0/8, ::1/128').waitFor()
    const use = (method = 'GET') =>
      sendRequest(gateway.url, { method, path: '/a/api/v2/transactions', headers: { authorization: `Bearer ${secret}` } })
    const created = await use('POST')
    expect([created.status, created.headers['x-swap-reason']]).toEqual([401, 'key_scope'])
    expect([(await use()).status, (await use()).status, (await use()).status]).toEqual([200, 200, 429])
    await row.getByRole('button', { name: 'Limits of initech' }).click()
    await dialog.getByLabel('Reads').fill('')
    await dialog.getByLabel('Quotes').fill('600')
    await dialog.getByRole('button', { name: 'Change the limits' }).click()
    await row.getByText('quotes 600, streams 50').waitFor()
    await expect.poll(async () => (await use()).status).toBe(200)
    expect(own(visited)).toEqual([])
  })

  it('of more than a thousand creates there is a next page, which stays while it is read again', async () => {
    const database = new DatabaseSync(join(directory, 'ledger.db'), { timeout: 5_000 })
    onTestFinished(() => database.close())
    database.exec(`INSERT INTO transactions (intent, owner, provider, state, attempted_at, requested)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1002)
      SELECT 'made-' || n, 'owner', 'alpha', 'unknown', n, '{"amountIn":"1","withdrawalAddress":"0x1"}' FROM numbers`)
    await using visited = await signedIn()
    const { page } = visited
    await show(page, 'Needs a person')
    const creates = page.getByRole('table', { name: 'What needs a person' })
    const rows = () => creates.locator('.line').getByRole('rowheader').allInnerTexts()
    const section = page.locator('section[aria-labelledby="person"]')
    await expect.poll(() => section.getByRole('paragraph').first().innerText()).toBe('1,000, and more')
    expect(await page.title()).toBe('(1,000+) swapgate: operator: Needs a person')
    await section.getByRole('button', { name: 'Next' }).click()
    await expect.poll(rows).toEqual(['made-1001', 'made-1002'])
    expect(await page.getByRole('status').innerText()).not.toContain('need a person')
    database.exec("DELETE FROM transactions WHERE intent = 'made-1002'")
    await expect.poll(rows).toEqual(['made-1001'])
    await section.getByRole('button', { name: 'First' }).click()
    await expect.poll(async () => (await rows()).length).toBe(1_000)
    database.exec("DELETE FROM transactions WHERE intent LIKE 'made-%'")
    await page.getByText('Every create has an outcome.').waitFor({ timeout: 40_000 })
    expect(await section.getByRole('button').count()).toBe(0)
    expect(own(visited)).toEqual([])
  })

  it('a transaction that failed is shown and settled, by a dialog that states what it will do', async () => {
    const id = await create()
    await alpha.change(id.replace(/^alpha~/, ''), { status: 'broken' } as never)
    await using visited = await signedIn()
    const { page } = visited
    await show(page, 'Needs a person')
    await page.getByText('Every create has an outcome.').waitFor()
    await send('GET', `/transactions/${id}`)
    const failed = page.getByRole('table', { name: 'What needs a person' })
    await expect.poll(() => failed.innerText(), { timeout: 20_000 }).toContain('failed')
    expect(await failed.innerText()).toContain('acme')
    await expect.poll(() => page.getByRole('status').innerText()).toContain('A transaction needs a person.')
    await failed.getByRole('button', { name: `Settle ${id}` }).click()
    expect(await dialogOf(page).innerText()).toContain('From now on the client gets the status that you choose')
    expect(await violations(page)).toEqual([])
    await dialogOf(page).getByLabel('Outcome').selectOption('refunded')
    await dialogOf(page).getByLabel('Note').fill('the provider’s ticket 7')
    await dialogOf(page).getByRole('button', { name: 'Settle' }).click()
    await failed.waitFor({ state: 'detached' })
    expect((await send('GET', `/transactions/${id}`)).text).toContain('refunded')
    expect(own(visited)).toEqual([])
  })

  it('W21: what changes all the time reloads no list of accounts, and a create of unknown outcome is open', async () => {
    await using visited = await signedIn()
    const { page } = visited
    const before = Number(await cellOf(page, 'alpha', 'Open').innerText())
    const ids = [await create(), await create()]
    await expect.poll(async () => Number(await cellOf(page, 'alpha', 'Open').innerText())).toBe(before + 2)
    await alpha.fault({ operation: 'create', before: 'reset' })
    expect((await send('POST', '/transactions', order)).status).toBe(504)
    await expect.poll(async () => Number(await cellOf(page, 'alpha', 'Open').innerText())).toBe(before + 3)
    expect(visited.requestedUrls.filter((url) => /\/api\/(?:accounts|keys)$/.test(url))).toEqual([])
    await show(page, 'Needs a person')
    await page.getByRole('table', { name: 'What needs a person' }).getByRole('button', { name: /^None/ }).first().click()
    await dialogOf(page).getByRole('button', { name: 'Nothing was created' }).click()
    for (const id of ids) await finish(id)
  })

  it('the transactions of an account are found, with shortened addresses and as text', async () => {
    const id = await create()
    await using visited = await signedIn()
    const { page } = visited
    await show(page, 'Swaps')
    await page.getByLabel('Account').fill('acme')
    await page.keyboard.press('Enter')
    const found = page.getByRole('table', { name: 'Swaps found' })
    await expect.poll(() => found.innerText()).toContain(id)
    expect(await found.innerText()).toContain('0xWith…6789')
    await page.getByLabel('Since').fill('<b>tomorrow</b>')
    await page.keyboard.press('Enter')
    await page.getByText('must be a date').waitFor()
    await finish(id)
  })
})

describe('a token with some roles', () => {
  it('is told what it may not do, whose buttons are off; addresses stay short', async () => {
    const id = await create()
    await using visited = await visit(`${gateway.adminUrl}/`)
    const { page } = visited
    await signIn(page, reader)
    await cellOf(page, 'alpha', 'State').waitFor()
    expect(await page.locator('.roles').innerText()).toBe(
      'The token of carol may not switch providers, set limits and revoke keys (operate), nor settle, and see whole addresses (money). These buttons are off.',
    )
    const drain = page.getByRole('button', { name: 'Drain alpha' })
    expect([await drain.getAttribute('aria-disabled'), await drain.getAttribute('title')]).toEqual([
      'true',
      'Your token lacks the role operate',
    ])
    await drain.click({ force: true })
    expect(await dialogOf(page).isVisible()).toBe(false)
    await page.getByRole('searchbox').fill(id)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Swap', exact: true }).waitFor()
    await page.getByText('whole ones need the role money').waitFor()
    await page.getByText('0xWith…6789').waitFor()
    expect(await page.locator('main').innerText()).not.toContain(order.withdrawalAddress)
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(await violations(page)).toEqual([])
    expect(own(visited)).toEqual([])
  })

  it('that is bare has every button', async () => {
    await using visited = await visit(`${gateway.adminUrl}/`)
    const { page } = visited
    await signIn(page, other)
    await cellOf(page, 'alpha', 'State').waitFor()
    expect(await page.locator('.roles').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Drain alpha' }).getAttribute('aria-disabled')).toBeNull()
  })
})

describe('how it is served and looks', () => {
  it('loads without a token, without data and without other hosts; the policy is strict', async () => {
    await using visited = await signedIn()
    expect(new Set(visited.requestedUrls.map((url) => new URL(url).origin))).toEqual(new Set([gateway.adminUrl]))
    expect(visited.complaints).toEqual([])
    const files = visited.requestedUrls.map((url) => new URL(url).pathname).filter((path) => !path.startsWith('/api/'))
    expect(files).toContain('/page/lit-html/directives/repeat.js')
    for (const path of files) {
      const { status, headers } = await fetch(gateway.adminUrl + path)
      const type = expect.stringMatching(/^text\/(?:html|css|javascript); charset=utf-8$/)
      expect([status, headers.get('content-type')]).toEqual([200, type])
      const policy = headers.get('content-security-policy')
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'(?: 'sha256-[\w+/]+=')?; style-src 'self'; connect-src 'self'/)
      expect(policy?.includes('sha256') ?? false).toBe(path === '/')
    }
    for (const path of ['/page/', '/page/../package.json', '/page/index.html', '/page/%2e%2e/api.js'])
      expect((await sendRequest(gateway.adminUrl, { path })).status).toBe(404)
  })

  it('below a path of a proxy it finds its files also without the slash, and stays at its place', async () => {
    const proxy = createServer(async ({ url = '' }, response) => {
      if (!url.startsWith('/ops')) return void response.writeHead(404).end()
      const target = new URL(url.slice('/ops'.length) || '/', gateway.adminUrl)
      const served = await fetch(new URL(target.pathname, gateway.adminUrl))
      const headers = ['content-type', 'content-security-policy'].map((name) => [name, served.headers.get(name) ?? ''])
      response.writeHead(served.status, Object.fromEntries(headers)).end(await served.text())
    })
    onTestFinished(() => void proxy.close())
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    await using visited = await visit(`${origin}/ops?x=1#/swaps`)
    await visited.page.getByLabel('Token').waitFor()
    expect(visited.page.url()).toBe(`${origin}/ops/?x=1#/swaps`)
    expect(visited.requestedUrls).toContain(`${origin}/ops/page/main.js`)
  })

  it.each(['light', 'dark'] as const)(
    'axe finds nothing in %s, from wide to a phone, and nothing scrolls sideways',
    async (colorScheme) => {
      await alpha.fault({ operation: 'create', before: 'reset' })
      await send('POST', '/transactions', order)
      await using visited = await visit(`${gateway.adminUrl}/`)
      const { page } = visited
      await page.emulateMedia({ colorScheme })
      expect(await violations(page)).toEqual([])
      await signIn(page, token)
      await page.getByRole('link', { name: /creates? at alpha$/ }).waitFor()
      for (const width of [1280, 800, 360]) {
        await page.setViewportSize({ width, height: 800 })
        expect([width, await overflow(page), await violations(page)]).toEqual([width, 0, []])
      }
      await page.getByRole('button', { name: 'Off alpha' }).click()
      expect(await violations(page)).toEqual([])
      expect(await overflow(page)).toBe(0)
      const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(background).toBe(colorScheme === 'dark' ? 'rgb(22, 24, 27)' : 'rgb(247, 247, 245)')
    },
  )

  it('shows that the gateway does not respond, and recovers by itself', async () => {
    await using visited = await signedIn()
    const { page } = visited
    await gateway.stop()
    await page.getByText('The gateway does not answer.').waitFor({ timeout: 20_000 })
    await gateway.start()
    await page.getByText(/replicas?, live/).waitFor({ timeout: 40_000 })
  })
})
