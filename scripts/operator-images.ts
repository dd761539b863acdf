/** Writes the pictures of the operator's page in `docs/images/`, with a gateway and providers of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { visit } from '../test/api-docs-page/browser.ts'
import { startProvider } from '../test/checker/provider.ts'
import { cellOf, signIn } from '../test/operator/browser.ts'
import { InProcessGateway } from '../test/support/in-process-gateway.ts'

const token = 'a-token-for-the-pictures-0123456789'
const picture = (name: string): string => new URL(`../docs/images/${name}.png`, import.meta.url).pathname
const directory = mkdtempSync(join(tmpdir(), 'swapgate-images-'))
const journal = join(directory, 'journal')
await using open = new AsyncDisposableStack()
open.defer(async () => rmSync(directory, { recursive: true }))
const alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['key'], journal }))
const beta = open.use(await startProvider({ form: 'B', name: 'beta', keys: ['key'], journal }))
const gateway = open.use(
  await InProcessGateway.start({
    directory,
    mode: 'managed',
    admin: { tokens: { alice: token } },
    providers: {
      alpha: { form: 'A', url: alpha.url, key: 'key', rateLimit: { quotes: 600, create: 120, read: 600 } },
      beta: { form: 'B', url: beta.url, key: 'key', rateLimit: { quotes: 300, create: 60, read: 300 } },
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
const create = async (coinFrom = 'XRP'): Promise<void> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  await fetch(`${gateway.url}/a/api/v2/transactions`, { method: 'POST', headers, body: JSON.stringify({ ...order, coinFrom }) })
}
for (let count = 0; count < 24; count++) await create()
for (const provider of [alpha, beta]) await provider.fault({ operation: 'create', swap: 'amount', having: 'BTC', times: 3 })
for (let count = 0; count < 3; count++) await create('BTC')
await gateway.command('providers', 'drain', 'beta')
await alpha.fault({ operation: 'create', before: 'reset' })
await new Promise((resolve) => setTimeout(resolve, 6_000))
await create()

await using visited = await visit(`${gateway.adminUrl}/`)
const { page } = visited
await signIn(page, token)
await cellOf(page, 'alpha', 'State').waitFor()
await page.getByLabel('Account').fill('acme')
await page.getByRole('button', { name: 'Search' }).click()
await page.getByRole('table', { name: 'Transactions found' }).waitFor()
await page.waitForTimeout(11_000)
await page.evaluate('scrollTo(0, 0)')
await page.screenshot({ path: picture('operator') })
await page.emulateMedia({ colorScheme: 'dark' })
await page.getByRole('button', { name: 'Off beta' }).click()
await page.screenshot({ path: picture('operator-dialog') })
await page.keyboard.press('Escape')
await page.setViewportSize({ width: 360, height: 780 })
await page.evaluate('scrollTo(0, 0)')
await page.screenshot({ path: picture('operator-phone') })
