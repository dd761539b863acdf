/** Writes the pictures of the operator's page in `docs/images/`, with a gateway and providers of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { visit } from '../test/api-docs-page/browser.ts'
import { startProvider } from '../test/checker/provider.ts'
import { cellOf, show, signIn } from '../test/operator/browser.ts'
import { InProcessGateway } from '../test/support/in-process-gateway.ts'

const token = 'a-token-for-the-pictures-0123456789'
const picture = (name: string): string => new URL(`../docs/images/${name}.png`, import.meta.url).pathname
const directory = mkdtempSync(join(tmpdir(), 'swapgate-images-'))
const journal = join(directory, 'journal')
await using open = new AsyncDisposableStack()
open.defer(async () => rmSync(directory, { recursive: true }))
const alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['key'], journal }))
const beta = open.use(await startProvider({ form: 'B', name: 'beta', keys: ['key'], journal }))
const statuses = { broken: 'failed', frozen: 'held' }
const gateway = open.use(
  await InProcessGateway.start({
    directory,
    mode: 'managed',
    admin: { tokens: { alice: token } },
    providers: {
      alpha: { form: 'A', url: alpha.url, key: 'key', statuses, rateLimit: { quotes: 600, create: 120, read: 600 } },
      beta: { form: 'B', url: beta.url, key: 'key', statuses, rateLimit: { quotes: 300, create: 60, read: 300 } },
    },
    sections: { routing: { strategy: 'weighted', providers: ['alpha', 'beta'], weights: { alpha: 3, beta: 1 } } },
  }),
)
const key = await gateway.createKey('acme')
const order = {
  coinTo: 'USDTERC20',
  amount: 100,
  withdrawalAddress: '0x52908400098527886E0F7030069857D2E4169EE7',
  rateType: 'float',
}
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
/** The id, if there is one. */
const create = async (coinFrom = 'XRP'): Promise<string> => {
  const body = JSON.stringify({ ...order, coinFrom })
  const response = await fetch(`${gateway.url}/a/api/v2/transactions`, { method: 'POST', headers, body })
  return ((await response.json()) as { id: string }).id
}
const get = (id: string) => fetch(`${gateway.url}/a/api/v2/transactions/${id}`, { headers })
const providerOf = (id: string) => (id.startsWith('alpha~') ? alpha : beta)
const ids: string[] = []
for (let count = 0; count < 24; count++) ids.push(await create())
for (const [at, id] of ids.slice(0, 8).entries()) {
  await providerOf(id).change(id.replace(/^\w+~/, ''), { status: at % 2 === 0 ? 'broken' : 'frozen' } as never)
  await get(id)
}
for (const provider of [alpha, beta]) await provider.fault({ operation: 'create', swap: 'amount', having: 'BTC', times: 3 })
for (let count = 0; count < 3; count++) await create('BTC')
await gateway.command('providers', 'drain', 'beta')
await new Promise((resolve) => setTimeout(resolve, 6_000))
await alpha.fault({ operation: 'create', before: 'reset', times: 9 })
for (let count = 0; count < 9; count++) await create()

await using visited = await visit(`${gateway.adminUrl}/`)
const { page } = visited
await signIn(page, token)
await cellOf(page, 'alpha', 'State').waitFor()
await page.waitForTimeout(11_000)
await page.screenshot({ path: picture('operator') })
await show(page, 'Needs a person')
await page.getByRole('table', { name: 'What needs a person' }).waitFor()
await page.screenshot({ path: picture('operator-person') })
await page
  .getByRole('link', { name: /^[0-9a-f-]{36}$/ })
  .last()
  .click()
await page.getByRole('list', { name: 'Timeline' }).waitFor()
await page.screenshot({ path: picture('operator-swap') })
await page.emulateMedia({ colorScheme: 'dark' })
await show(page, 'Overview')
await page.getByRole('button', { name: 'Off beta' }).click()
await page.screenshot({ path: picture('operator-dialog') })
await page.keyboard.press('Escape')
await page.setViewportSize({ width: 390, height: 844 })
await show(page, 'Needs a person')
await page.screenshot({ path: picture('operator-phone') })

// All visits share it.
await page.context().browser()?.close()
