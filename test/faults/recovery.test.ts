// Takes long: an outage of ten seconds.
/** How soon clients are served again after an outage of a provider (docs/contract-operators.md §8). */
import { createServer, type Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { ConfigDirectory } from '../process/swapgate.ts'
import { freePort } from '../support/free-port.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'

const outageMs = 10_000
const quote = '/a/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount='
const rate = { amount: 1, amountTo: 2, rate: 2, coinFrom: 'BTC', coinTo: 'ETH', rateType: 'float' }

/** A provider on this port that answers quotes of any amount. */
async function startProvider(port: number): Promise<Server> {
  const server = createServer((request, response) => {
    const amount = Number(new URL(request.url ?? '/', 'http://provider').searchParams.get('amount'))
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...rate, amount, amountTo: 2 * amount }))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return server
}

function end(server: Server): Promise<unknown> {
  const ended = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  return ended
}

it('quotes are answered within two seconds after the end of an outage of ten', { timeout: 40_000 }, async () => {
  using directory = new ConfigDirectory()
  const port = await freePort(20_000, 12_000)
  const file = directory.write(`
server: { port: 0, shutdownDelay: 0 }
admin: { port: 0 }
ledger: { url: "sqlite:${directory.path}/ledger.db" }
limits: { quotes: 100000 }
cache: { rate: 0 }
providers: { alpha: { form: A, url: "http://127.0.0.1:${port}/api/v2", rateLimit: { quotes: 0 }, assets: { BTC: BTC, ETH: ETH } } }
routing: { providers: [alpha] }`)
  await using gateway = await InProcessGateway.start(file)
  let amount = 0
  const ask = async (): Promise<number> => (await fetch(`${gateway.url}${quote}${++amount}`)).status
  const provider = await startProvider(port)
  expect(await ask()).toBe(200)
  await end(provider)
  const statuses = new Set<number>()
  for (const until = performance.now() + outageMs; performance.now() < until; await pause(100)) statuses.add(await ask())
  // At last its breaker refuses, and nothing is sent.
  expect([...statuses]).toContain(503)
  const again = await startProvider(port)
  onTestFinished(() => void end(again))
  const backAt = performance.now()
  while ((await ask()) !== 200) await pause(50)
  expect(performance.now() - backAt).toBeLessThan(2_000)
})
