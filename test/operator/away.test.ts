// Takes long: Chromium, and a ledger and a Redis that go away and come back.
/** docs/contract-operators.md §15: while the ledger or Redis is away the operator's page says so, and what was well before is not shown as well now. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Visit, visit } from '../api-docs-page/browser.ts'
import { startProvider } from '../checker/provider.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { startPostgres } from '../support/postgres.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts'
import { RedisServer } from '../support/redis.ts'
import { cellOf, show, signIn, violations } from './browser.ts'

const token = 'operator-token-of-alice-0123456789'
const allWell = 'Every create has an outcome.'
const waiting = { timeout: 25_000 }

interface Opened extends AsyncDisposable {
  readonly page: Page
  readonly ledger: PostgresProxy
  readonly redis: RedisServer
}

/** Over PostgreSQL and Redis, with a provider whose budget is limited, signed in at the first view. */
async function openPage(): Promise<Opened> {
  const open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-away-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  const postgres = await startPostgres()
  open.defer(postgres.close)
  const ledger = await startPostgresProxy(await postgres.createLedger())
  open.defer(async () => ledger.close())
  const redis = open.use(await RedisServer.start())
  const alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['own-key'], journal: join(directory, 'alpha') }))
  const gateway = open.use(
    await InProcessGateway.start({
      directory,
      mode: 'managed',
      ledger: ledger.url,
      admin: { tokens: { alice: token } },
      providers: {
        alpha: { form: 'A', url: alpha.url, key: 'own-key', rateLimit: { quotes: 600, create: 120, read: 600 } },
      },
      sections: { redis: { url: redis.url } },
    }),
  )
  await gateway.createKey('acme')
  const visited: Visit = open.use(await visit(`${gateway.adminUrl}/`))
  await signIn(visited.page, token)
  await visited.page.getByText(allWell).waitFor()
  const all = open.move()
  return { page: visited.page, ledger, redis, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** What is printed in the colour of what is well. */
function greens(page: Page): Promise<readonly string[]> {
  return page.evaluate(
    "[...document.querySelectorAll('body *')].filter((one) => getComputedStyle(one).color === 'rgb(27, 100, 55)').map((one) => one.textContent)",
  )
}

test.each([
  ['refuses', ({ refuse, cut }: PostgresProxy) => [refuse(), cut()]],
  ['hangs', ({ refuse, silence }: PostgresProxy) => [refuse(), silence()]],
])('while the ledger %s, nothing is well that was, and each figure has its age; then it is read again', async (_, lose) => {
  await using opened = await openPage()
  const { page, ledger } = opened
  await expect.poll(() => greens(page), waiting).toEqual(['active'])
  await show(page, 'Accounts and keys')
  await expect.poll(() => greens(page), waiting).toEqual(['valid'])
  await show(page, 'Overview')

  lose(ledger)
  await page.getByText('The ledger does not answer').waitFor(waiting)
  expect(await page.getByText(allWell).count()).toBe(0)
  expect(await page.getByText(/^Whether anything needs a person is not known\. Nothing did \d+ s ago, at .+\.$/).count()).toBe(1)
  expect(await cellOf(page, 'alpha', 'State').innerText()).toBe('was active')
  expect(await cellOf(page, 'alpha', 'Breakers').innerText()).toMatch(/^(?:were closed|–)$/)
  const figures = page.locator('section[aria-labelledby="providers"]')
  expect(await figures.getByText(/This is what was so \d+ s ago, at .+\./).count()).toBe(1)
  expect(await greens(page)).toEqual([])
  expect(await page.title()).toBe('(?) swapgate: operator')
  expect(await violations(page)).toEqual([])
  await show(page, 'Accounts and keys')
  expect(await greens(page)).toEqual([])
  await show(page, 'Needs a person')
  expect(await page.getByText(allWell).count()).toBe(0)
  await show(page, 'Swaps')
  expect(await page.getByText('No swap was found.').count()).toBe(0)
  await show(page, 'Accounts and keys')
  await expect.poll(() => greens(page)).toEqual([])

  // Keys are read each minute; what failed is read again sooner.
  await ledger.admit()
  await expect.poll(() => greens(page), { timeout: 15_000 }).toEqual(['valid'])
  await show(page, 'Overview')
  await page.getByText(allWell).waitFor({ timeout: 15_000 })
  await expect.poll(() => cellOf(page, 'alpha', 'State').innerText(), waiting).toBe('active')
  expect(await page.getByText('The ledger does not answer').count()).toBe(0)
})

test('who signs in while the ledger is away is told so, and is shown nothing as well', async () => {
  await using opened = await openPage()
  const { page, ledger } = opened
  await page.getByRole('button', { name: 'Sign out' }).click()
  ledger.refuse()
  ledger.cut()
  await signIn(page, token)
  await page.getByText('The ledger does not answer').waitFor(waiting)
  expect(await greens(page)).toEqual([])
  expect(await page.getByText(allWell).count()).toBe(0)
  expect(await page.getByText('Nothing is known yet.').count()).toBeGreaterThan(0)
})

test('while Redis is away the page says so, and the budgets that it shares are not known', async () => {
  await using opened = await openPage()
  const { page, redis } = opened
  await expect.poll(() => cellOf(page, 'alpha', 'Budget left').innerText(), waiting).toMatch(/^quotes \d+ create \d+ read \d+$/)
  await redis.kill()
  await page.getByText(/^Redis does not answer this gateway since .+: each gateway counts/).waitFor(waiting)
  expect(await cellOf(page, 'alpha', 'Budget left').innerText()).toBe('not known')
  expect(await page.getByText(allWell).count()).toBe(1)
  expect(await violations(page)).toEqual([])
  await redis.start()
  await page.getByText(/Redis does not answer/).waitFor({ ...waiting, state: 'detached' })
  await expect.poll(() => cellOf(page, 'alpha', 'Budget left').innerText(), waiting).toMatch(/^quotes \d+/)
})
