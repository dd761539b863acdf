/**
 * Records, as `record.ts` does the rest, a delivery to a webhook that fails for good, and a swap that a webhook watches and nobody can read: the
 * pauses between attempts are over at once, and what is not read ages as fast as a scrape counts.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import buildBundle from '../support/bundle.ts'
import { assets } from '../support/swaps.ts'
import { writeCase } from './recorded-case.ts'
import { Recorder } from './recorder.ts'
import { startSite } from './world.ts'

const secondsPerTick = 15
const removeBundle = await buildBundle()
{
  await using open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-record-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  const receiver = createServer((request, response) => request.on('end', () => response.writeHead(500).end()).resume())
  open.defer(async () => void receiver.close())
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const webhooks = { key: randomBytes(32).toString('base64'), allow: [origin] }
  const site = await startSite(directory, { name: 'webhooks', form: 'A', sections: { webhooks } }, open)
  const accounts = (await site.gateway.command('accounts', 'list')) as readonly { readonly name: string }[]
  for (const { name } of accounts) await site.gateway.command('webhooks', 'add', name, `${origin}/`)
  const recorder = new Recorder(secondsPerTick)
  recorder.add('webhooks', site.gateway.adminUrl)
  const ledger = new DatabaseSync(join(site.directory, 'ledger.db'), { timeout: 5_000 })
  open.defer(async () => ledger.close())
  const ticks = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left--) {
      await recorder.next()
      await delay(1_000)
      ledger.exec('UPDATE webhook_queues SET due_at = 1 WHERE due_at IS NOT NULL AND claim IS NULL')
      ledger.exec(`UPDATE watched_transactions SET read_at = read_at - ${1_000 * (secondsPerTick - 1)}`)
    }
  }
  await ticks(20)
  const faultAt = recorder.tick
  await site.customers[0].create(site.gateway.url, {
    ...{ from: assets.xrp, to: assets.usdtEth, amount: '1.5', withdrawalAddress: '0xWithdraw1', rateType: 'float' },
  })
  await ticks(40)
  await writeCase('SwapgateWebhookFailed', recorder, { from: 0, to: recorder.tick, instances: ['webhooks'], faultAt })
  const unreadFrom = recorder.tick
  for (const operation of ['get', 'list'] as const) await site.provider.fault({ operation, before: 500, times: 100_000 })
  await ticks(160)
  await writeCase('SwapgateWatchedTransactionsUnread', recorder, {
    from: 20,
    to: recorder.tick,
    instances: ['webhooks'],
    faultAt: unreadFrom,
  })
}
removeBundle?.()
process.exit()
