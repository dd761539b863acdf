/**
 * Clients that always send, and read their responses slowly or never, so that these pile up; more of them with `npm
 * run test:soak`.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { ownLoad } from '../support/own-load.ts'
import { neverReads, readsLittle, residentMemory } from './slow-clients.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

const isSoak = process.env.SWAPGATE_SOAK !== undefined
const [readers, timeoutSeconds] = isSoak ? [50, 20] : [5, 1]
const requestCount = 20
const rows = Array.from({ length: 100 }, (_, at) => ({
  code: `COIN${at}`,
  name: `Coin ${at}`,
  icon: `https://a/${'x'.repeat(10_000)}`,
}))
const list = JSON.stringify({ data: rows, pagination: { page: 1, size: 100, total: 100 } })
const requestOf = (size: number): string => `GET /a/api/v2/currencies?size=${size} HTTP/1.1\r\nHost: gateway\r\n\r\n`
const request = requestOf(100)

const timeout = 30_000 + 3_000 * timeoutSeconds
it('X1, X6: clients that take a little now and then are let go all the same, and others are served', { timeout }, async () => {
  using directory = new ConfigDirectory()
  const provider = createServer((_, response) => response.setHeader('content-type', 'application/json').end(list))
  await once(provider.listen(0, '127.0.0.1'), 'listening')
  const file = directory.write(`
server: { port: 0, socketTimeout: ${timeoutSeconds} }
admin: { port: 0 }
limits: { quotes: 1000000 }
providers: { alpha: { form: A, url: "http://127.0.0.1:${(provider.address() as AddressInfo).port}", timeout: 0.5 } }
routing: { providers: [alpha] }`)
  await using gateway = new Swapgate(['start', '--config', file])
  const url = `${(await gateway.urls()).get('form A')}/api/v2/currencies?size=100`
  const page = await (await fetch(url)).text()
  expect(page.length).toBeGreaterThan(1_000_000)

  const pid = gateway.child.pid as number
  const before = residentMemory(pid)
  // So little that it would take them more than four times as long.
  const interval = (4 * timeoutSeconds * 65_536) / (requestCount * page.length)
  const port = Number(new URL(url).port)
  const held = Promise.all(Array.from({ length: readers }, () => readsLittle(port, request, requestCount, interval)))
  let most = 0
  const watching = setInterval(() => {
    most = Math.max(most, residentMemory(pid) - before)
  }, 50)
  // While so much is being made, quotes may be refused for a moment.
  await expect.poll(async () => (await (await fetch(url)).text()) === page).toBe(true)
  for (const after of await held) {
    expect(after).toBeGreaterThan(timeoutSeconds * 0.9)
    // A client that has read all its refusals sends nothing any more, and is closed for that.
    expect(after).toBeLessThan(timeoutSeconds * 2 + 1)
  }
  clearInterval(watching)
  console.info(`${readers} clients with ${requestCount} MB each that they take too slowly: ${most.toFixed(0)} MB`)
  await expect.poll(() => residentMemory(pid) - before).toBeLessThan(300)
  provider.close()
})

it('X6: in 512 MB, clients that read none of their long pages end before these take the memory', { timeout: 120_000 }, async () => {
  using directory = new ConfigDirectory()
  const provider = createServer((_, response) => response.setHeader('content-type', 'application/json').end(list))
  await once(provider.listen(0, '127.0.0.1'), 'listening')
  const file = directory.write(`
server: { port: 0, socketTimeout: 20 }
admin: { port: 0 }
limits: { quotes: 1000000 }
providers: { alpha: { form: A, url: "http://127.0.0.1:${(provider.address() as AddressInfo).port}" } }
routing: { providers: [alpha] }`)
  const constrained = '--import=data:text/javascript,process.constrainedMemory=()=>536870912'
  await using gateway = new Swapgate(['start', '--config', file], {
    env: { NODE_OPTIONS: `${ownLoad} ${constrained} --max-old-space-size=256` },
  })
  const urls = await gateway.urls()
  const port = Number(new URL(urls.get('gateway') ?? '').port)
  const pages = Array.from({ length: 40 }, (_, at) => requestOf(60 + at)).join('')
  const held = Promise.all(Array.from({ length: 20 }, () => neverReads(port, pages, 1, 0.2)))
  const pid = gateway.child.pid as number
  let most = 0
  const watching = setInterval(() => {
    most = Math.max(most, residentMemory(pid))
  }, 50)
  onTestFinished(() => clearInterval(watching))
  await held
  console.info(`20 clients with 40 pages of 1 MB each that they do not read: at most ${most.toFixed(0)} MB`)
  expect(most).toBeLessThan(0.85 * 512)
  const metrics = await (await fetch(`${urls.get('admin')}/metrics`)).text()
  expect(metrics).toMatch(/connections_closed_total\{port="public",reason="unread"\} [1-9]/)
  provider.close()
})
