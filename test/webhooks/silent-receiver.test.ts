/** docs/contract.md §18.3: a receiver that never answers does not delay what others are told. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { startProvider } from '../checker/provider.ts'
import { sendRequest } from '../support/client.ts'
import { Receiver } from './receiver.ts'

/** More than a receiver gets requests at a time. */
const swapsEach = 30

it('the median of what another is told grows by at most 100 ms', { timeout: 60_000 }, async () => {
  await using open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-silent-receiver-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  const alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['own-key'], journal: join(directory, 'alpha') }))
  const [receiver, silent] = [open.use(await Receiver.start()), open.use(await Receiver.start())]
  silent.respond = () => {}
  const gateway = open.use(
    await GatewayProcess.start({
      directory,
      mode: 'managed',
      providers: { alpha: { form: 'A', url: alpha.url, key: 'own-key' } },
      sections: {
        webhooks: {
          key: randomBytes(32).toString('base64'),
          allow: [receiver, silent].map(({ port }) => `http://127.0.0.1:${port}`),
        },
      },
    }),
  )
  const key = await gateway.createKey('acme')
  const add = (port: number) => gateway.command('webhooks', 'add', 'acme', `http://127.0.0.1:${port}/hook`)
  const toldAt = new Map<string, number>()
  receiver.respond = ({ body }, response) => {
    toldAt.set(JSON.parse(body).data.id, performance.now())
    response.end()
  }
  let orders = 0
  /** Milliseconds from the response of a create to the webhook of its swap. */
  const median = async (): Promise<number> => {
    const delays: number[] = []
    for (let at = 0; at < swapsEach; at++) {
      const amount = 1 + ++orders / 100_000
      const order = { coinFrom: 'XRP', coinTo: 'USDTERC20', rateType: 'float', amount, withdrawalAddress: `0xWithdraw${orders}` }
      const { json } = await sendRequest(gateway.url, {
        method: 'POST',
        path: '/a/api/v2/transactions',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(order),
      })
      const respondedAt = performance.now()
      const { id } = json as { readonly id: string }
      await expect.poll(() => toldAt.has(id), { interval: 2 }).toBe(true)
      delays.push((toldAt.get(id) ?? 0) - respondedAt)
    }
    return delays.toSorted((one, other) => one - other)[swapsEach / 2] ?? 0
  }
  await add(receiver.port)
  const alone = await median()
  await add(silent.port)
  const beside = await median()
  expect(silent.received.length).toBeGreaterThan(0)
  expect(beside - alone).toBeLessThanOrEqual(100)
})
