/** Writes the pictures in `docs/images/`: `npm run docs:images`, with the gateway running (`npm start`). */
import { chooseForm, execute, operation, visit } from '../test/api-docs-page/browser.ts'

const picture = (name: string): string => new URL(`../docs/images/${name}.png`, import.meta.url).pathname

await using visited = await visit(`${process.env.SWAPGATE_URL ?? 'http://127.0.0.1:8080'}/docs`)
const { page } = visited
await page.locator('.info .title', { hasText: 'Form A' }).waitFor()
await page.screenshot({ path: picture('reference') })
await chooseForm(page, 'Form B')
const rate = await operation(page, 'Quotes', 'getRate')
await execute(rate)
await rate.locator('.live-responses-table').evaluate((table) => table.scrollIntoView({ block: 'center' }))
await page.screenshot({ path: picture('try-it') })
