// Takes long: requests loop until a limit ends them.
/** H12: a gateway whose provider is itself. No header shows it (docs/contract-operators.md §8), so its limits and its deadline end it. */

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { startGateway } from '../support/gateway.ts'
import { client, pairWords, rateQuery } from '../support/pair.ts'
import { providerAssets } from '../support/provider-assets.ts'
import { assets } from '../support/swaps.ts'

interface Mirror extends AsyncDisposable {
  readonly url: string
  /** The target of the loop. */
  port: number
}

async function startMirror(): Promise<Mirror> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const back = connect(mirror.port, '127.0.0.1')
    for (const one of [socket, back]) {
      sockets.add(one)
      one.on('error', () => one.destroy())
      one.on('close', () => sockets.delete(one))
    }
    socket.pipe(back).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const mirror = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a/api/v2`,
    port: 0,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  return mirror
}

const cases = [
  ['the limits', { limits: { quotes: 60, create: 30, read: 120 } }, 2, true],
  ['the deadline, without limits,', {}, 0.5, false],
] as const
test.each(cases)('H12: %s end what goes round, and the process lives', async (_, sections, timeout, isRefused) => {
  await using mirror = await startMirror()
  const gateway = await startGateway({ provider: { form: 'A', url: mirror.url, timeout, assets: providerAssets }, sections })
  mirror.port = gateway.port
  const { get, post } = client('A', gateway.url)
  const order = { ...pairWords('A', assets.btc, assets.usdtTrx), amount: 1, withdrawalAddress: 'w' }
  const requests: readonly (() => Promise<ReceivedResponse>)[] = [
    () => get(rateQuery('A', { from: assets.btc, to: assets.eth, amount: '1' })),
    () => get('/currencies'),
    () => get('/transactions'),
    () => get('/transactions/alpha~tx-1'),
    () => post('/transactions', order),
  ]
  for (const sendRequest of requests) {
    const before = performance.now()
    const response = await sendRequest()
    expect([404, 429, 502, 503, 504]).toContain(response.status)
    expectRefusal(response, 'A', response.status)
    expect(performance.now() - before).toBeLessThan(timeout * 1_000 + 1_000)
  }
  expectRefusal(await get('/nothing'), 'A', 404)
  const inDoubt = await gateway.ledger.dueCreates(Number.MAX_SAFE_INTEGER, 1_000, undefined)
  expect(inDoubt.length === 0).toBe(isRefused)
  expect(inDoubt.length).toBeLessThan(256)
  await gateway.close()
})
