/** playwright-core: drives the Chromium of the machine, and records the requests and errors of the page. */
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
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
export async function visit(url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  browser ??= launch()
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 900 }, ...options })
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

/** Shows the form of that name, like `B`. */
export async function chooseForm(page: Page, name: string): Promise<void> {
  await page.getByRole('radio', { name, exact: true }).check()
}

/** The part of the page about an operation of a form. */
export function operation(page: Page, form: string, name: string): Locator {
  return page.locator(`#${form.toLowerCase()}-${name}`)
}

/** Where a value is typed, by its name. What is folded is opened. */
export async function input(part: Locator, name: string): Promise<Locator> {
  const selector = `[name="${name}"]`
  const folded = part.locator('details:not([open])', { has: part.page().locator(selector) })
  if ((await folded.count()) > 0) await folded.locator('summary').click()
  return part.locator(selector)
}

/** The sample of the language that is shown. */
export function sample(part: Locator): Promise<string> {
  return part.locator('.sample:visible code').innerText()
}

/** Sends the request of the page, and returns the status and the body that the page shows. */
export async function execute(part: Locator): Promise<{ readonly status: string; readonly body: string }> {
  await part.getByRole('button', { name: 'Send' }).click()
  const result = part.locator('.result')
  await result.locator('.body').waitFor()
  return { status: await result.locator('.status').innerText(), body: await result.locator('.body').innerText() }
}

/** Opens whatever is folded. */
export async function unfold(page: Page): Promise<void> {
  await page.locator('main details').evaluateAll((folded) => {
    for (const one of folded) one.setAttribute('open', '')
  })
}
