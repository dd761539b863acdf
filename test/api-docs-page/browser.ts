/** playwright-core: drives the Chromium of the machine, and records the requests and errors of the page. */
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { afterEachFile } from '../support/after-tests.ts'
import { chromiumProgram } from '../support/chromium-program.ts'

export interface Visit extends AsyncDisposable {
  readonly page: Page
  /** URLs of all requests. */
  readonly requestedUrls: readonly string[]
  /** Errors and warnings of the console, and uncaught errors. */
  readonly complaints: readonly string[]
}

let browser: Promise<Browser> | undefined
afterEachFile.add(async () => {
  const open = await browser
  browser = undefined
  await open?.close()
})

/** In a profile of its own; all visits of a file share one Chromium. */
export async function visit(url: string): Promise<Visit> {
  browser ??= launch()
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  const requestedUrls: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => void requestedUrls.push(request.url()))
  page.on('pageerror', (error) => void complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  await page.goto(url)
  return { page, requestedUrls, complaints, [Symbol.asyncDispose]: () => context.close() }
}

/** The tests of a container run as root, where Chromium's own sandbox cannot. */
async function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: await chromiumProgram(), args: ['--no-sandbox'] })
}

/** Shows the form of that name. */
export async function chooseForm(page: Page, name: string): Promise<void> {
  await page.locator('#select').selectOption({ label: name })
  await page.locator('.info .title', { hasText: name }).waitFor()
}

/** Enters a key by hand. */
export async function authorize(page: Page, key: string): Promise<void> {
  await page.locator('.auth-wrapper .authorize').first().click()
  await page.locator('.modal-ux input').fill(key)
  await page.locator('.modal-ux button[type=submit]').click()
  await page.locator('.modal-ux .btn-done').click()
}

/** The part of the page about an operation, opened. */
export async function operation(page: Page, tag: string, name: string): Promise<Locator> {
  const part = page.locator(`#operations-${tag}-${name}`)
  await part.locator('.opblock-summary-control').click()
  await part.locator('.execute').waitFor()
  return part
}

/** Sends the request of the page, and returns the status and the body that the page shows. */
export async function execute(part: Locator): Promise<{ readonly status: string; readonly body: string }> {
  await part.locator('.execute').click()
  const shown = part.locator('.live-responses-table .response')
  await shown.waitFor()
  return {
    status: (await shown.locator('.response-col_status').innerText()).trim(),
    body: await shown.locator('.highlight-code pre').first().innerText(),
  }
}
