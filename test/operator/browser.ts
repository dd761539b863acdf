/** axe-core: the operator's page in Chromium, as a person uses it. */
import axe from 'axe-core'
import type { Locator, Page } from 'playwright-core'

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Shows a view by its link in the header. */
export async function show(page: Page, view: string): Promise<void> {
  const link = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view })
  await link.click()
  await link.and(page.locator('[aria-current]')).waitFor()
}

/** The cell below a heading, in the row of a provider. */
export function cellOf(page: Page, provider: string, heading: string): Locator {
  return page.locator(`tr[data-row="${provider}"] td[data-heading="${heading}"]`)
}

export function dialogOf(page: Page): Locator {
  return page.getByRole('dialog')
}

/** Opens the dialog of a button and presses the button in it. */
export async function change(page: Page, button: string, confirm: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click()
  await dialogOf(page).getByRole('button', { name: confirm, exact: true }).click()
}

/** What axe finds, a line for each element. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe }
    return (await inPage.run()).violations
  })
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

/** How many pixels are beyond the right edge. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}
