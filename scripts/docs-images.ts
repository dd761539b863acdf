/** Writes the pictures in `docs/images/`: `npm run docs:images`, with the gateway running (`npm start`). */
import { chooseForm, execute, operation, visit } from '../test/api-docs-page/browser.ts'

const picture = (name: string): string => new URL(`../docs/images/${name}.png`, import.meta.url).pathname

const url = `${process.env.SWAPGATE_URL ?? 'http://127.0.0.1:8080'}/docs`
await using visited = await visit(url)
const { page } = visited
const rate = operation(page, 'A', 'getRate')
await rate.evaluate((part) => part.scrollIntoView())
await page.screenshot({ path: picture('reference') })
await chooseForm(page, 'B')
const create = operation(page, 'B', 'createTransaction')
await execute(create)
await create.evaluate((part) => part.scrollIntoView())
await page.screenshot({ path: picture('try-it') })
await using onPhone = await visit(`${url}#b-createTransaction`, { viewport: { width: 390, height: 844 } })
await onPhone.page.screenshot({ path: picture('reference-phone') })

// All visits share it.
await page.context().browser()?.close()
