// Takes long: Chromium, and a gateway under a terminal.
/** docs/contract-operators.md §15: the page that a start at a terminal prints, from its URL to the first swap. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { visit } from '../api-docs-page/browser.ts'
import { freePorts } from '../container/ports.ts'
import { ConfigDirectory } from '../process/swapgate.ts'
import { sendRequest } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { hasTerminal, TerminalGateway } from '../support/terminal-gateway.ts'
import { cellOf, dialogOf, overflow, violations } from './browser.ts'

describe.runIf(hasTerminal)('the page of a start', () => {
  it('the printed URL signs in, and nothing of the tab keeps the token', async () => {
    await using gateway = await TerminalGateway.start()
    await using visited = await visit(gateway.pageUrl)
    const { page, complaints } = visited
    await expect.poll(() => cellOf(page, 'alpha', 'State').innerText(), { timeout: eventTimeoutMs }).toBe('active')
    expect(await page.evaluate('[location.href, history.length]')).toEqual([`${gateway.adminUrl}/`, 2])
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([0, 0, ''])
    expect(await page.content()).not.toContain(gateway.token)
    expect(complaints).toEqual([])
    await page.reload()
    await page.getByLabel('Token').waitFor()
  })

  it('pasted into a tab that shows the page, it signs in too', async () => {
    await using gateway = await TerminalGateway.start()
    await using visited = await visit(`${gateway.adminUrl}/#/audit`)
    const { page } = visited
    await page.getByLabel('Token').waitFor()
    await page.goto(gateway.pageUrl)
    await cellOf(page, 'alpha', 'State').waitFor()
    expect(await page.evaluate('location.href')).toBe(`${gateway.adminUrl}/`)
    await page.goBack()
    expect(await page.evaluate('location.href')).toBe(`${gateway.adminUrl}/#/audit`)
  })

  it('one of another start is out of the address bar, and is not valid', async () => {
    await using gateway = await TerminalGateway.start()
    await using visited = await visit(`${gateway.adminUrl}/#token=sg_start_${'a'.repeat(32)}`)
    const { page } = visited
    await expect.poll(() => page.getByRole('alert').innerText()).toBe('This token is not valid.')
    expect(await page.evaluate('location.href')).toBe(`${gateway.adminUrl}/`)
  })

  it('a page that is open ends with the reload that adds a provider', async () => {
    await using gateway = await TerminalGateway.start()
    await using visited = await visit(gateway.pageUrl)
    const { page } = visited
    await cellOf(page, 'alpha', 'State').waitFor()
    const gamma = 'providers:\n  gamma: { form: A, url: "http://127.0.0.1:1/api/v2" }\n'
    await gateway.reload((text) => text.replace('providers:\n', gamma))
    await page.getByLabel('Token').waitFor()
    expect(await page.getByRole('alert').innerText()).toBe("The operator's API is off: admin.tokens is empty.")
    expect(await page.locator('body').innerText()).not.toContain('alpha')
  })

  it('the overview has the first steps, as commands that work, until there is a swap', async () => {
    await using gateway = await TerminalGateway.start()
    await using visited = await visit(gateway.pageUrl)
    const { page } = visited
    const steps = page.getByRole('region', { name: 'First steps' })
    await expect
      .poll(() => steps.getByRole('listitem').allInnerTexts(), { timeout: eventTimeoutMs })
      .toEqual([
        expect.stringContaining('Take the key sandbox-key-1'),
        expect.stringContaining('Make a swap'),
        'Open the page of the API, which also sends requests.',
      ])
    expect(await violations(page)).toEqual([])
    await page.setViewportSize({ width: 320, height: 700 })
    expect(await overflow(page)).toBe(0)
    const docs = (await steps.getByRole('link', { name: 'the page of the API' }).getAttribute('href')) ?? ''
    expect((await fetch(docs)).status).toBe(200)
    const command = await steps.locator('pre').innerText()
    expect(JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8' }))).toMatchObject({ status: 'wait' })
    await steps.waitFor({ state: 'detached' })
    const headers = { authorization: `Bearer ${gateway.token}` }
    expect((await sendRequest(gateway.adminUrl, { path: '/api/first-steps', headers })).json).toEqual({ steps: null })
  })

  it('with keys that are issued, the first step makes one', async () => {
    const managed = (text: string): string =>
      text.replace('mode: passthrough', 'mode: managed').replace(/\$\{(?:ALPHA|BETA)_KEY:-\}/g, 'sandbox-key-1')
    await using gateway = await TerminalGateway.start(managed)
    await using visited = await visit(gateway.pageUrl)
    const { page } = visited
    const steps = page.getByRole('region', { name: 'First steps' })
    await steps.getByRole('button', { name: 'New key…' }).click()
    await dialogOf(page).getByLabel('Account').fill('acme')
    await dialogOf(page).getByRole('button', { name: 'Make the key' }).click()
    const key = await dialogOf(page).getByLabel('Key', { exact: true }).inputValue()
    const command = (await steps.locator('pre').innerText()).replace('<your key>', key)
    expect(JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8' }))).toMatchObject({ status: 'wait' })
  })
})

it('there are none beside another provider, whoever is signed in', async () => {
  using directory = new ConfigDirectory()
  const { sandbox } = await freePorts()
  const token = 'operator-token-of-alice-0123456789'
  const url = `http://127.0.0.1:${sandbox}/a/api/v2`
  const settings = {
    server: { port: 0, shutdownDelay: 0 },
    admin: { port: 0, tokens: { alice: { token, roles: ['read'] } } },
    ledger: { url: `sqlite:${directory.path}/ledger.db` },
    sandbox: { enabled: true, port: sandbox, data: `${directory.path}/sandbox.db` },
    providers: { alpha: { form: 'A', url } },
    routing: { providers: ['alpha'] },
  }
  const file = directory.write(JSON.stringify(settings))
  await using gateway = await InProcessGateway.start(file)
  const steps = async (): Promise<unknown> =>
    (await sendRequest(gateway.adminUrl, { path: '/api/first-steps', headers: { authorization: `Bearer ${token}` } })).json
  expect(await steps()).toEqual({ steps: { url: gateway.url, mode: 'passthrough', docs: true } })
  const providers = { ...settings.providers, beta: { form: 'A', url: 'http://127.0.0.1:1/api/v2' } }
  writeFileSync(file, JSON.stringify({ ...settings, providers }))
  gateway.reload()
  await expect.poll(steps).toEqual({ steps: null })
})
