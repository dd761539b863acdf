/** Rows X13 and X14: requests that never arrive whole, and bodies in the smallest of pieces, in a process of 512 MB. */
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { ownLoad } from '../support/own-load.ts'
import { heldProvider } from './provider.ts'
import { residentMemory } from './slow-clients.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

const timeout = 60_000
const constrained = 'data:text/javascript,process.constrainedMemory=()=>536870912'
const env = { NODE_OPTIONS: `${ownLoad} --import=${constrained} --max-old-space-size=256` }

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

function send(url: string, text: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  socket.write(text)
  return socket
}

it('X14: bodies in chunks of one byte, which nobody reads, take no more memory than their bytes', { timeout }, async () => {
  await using provider = await heldProvider()
  using directory = new ConfigDirectory()
  const file = directory.write(`
server: { port: 0, grace: 0 }
admin: { port: 0 }
ledger: { url: "sqlite::memory:" }
providers: { alpha: { form: A, url: "${provider.url}" } }
routing: { providers: [alpha] }`)
  await using gateway = new Swapgate(['start', '--config', file], { env })
  const url = (await gateway.urls()).get('gateway') ?? ''
  const pid = gateway.child.pid as number
  const before = residentMemory(pid)
  const head = 'GET /a/api/v2/rate?coinFrom=BTC&coinTo=BTC&amount=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
  const body = '1\r\na\r\n'.repeat(65_536)
  for (let count = 0; count < 60; count++) send(url, head + body)
  await provider.requested
  expect((await fetch(`${url}/nowhere`)).status).toBe(404)
  expect(residentMemory(pid) - before).toBeLessThan(100)
  expect(gateway.child.exitCode).toBe(null)
})
