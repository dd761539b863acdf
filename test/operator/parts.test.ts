/** docs/contract-operators.md §15: long lists of the operator's API. */
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { okParts, route } from '../../src/operator/route.ts'

const [partCount, rowsOfPart] = [300, 1_000]

test('a long list is read no faster than its client takes it, and comes whole', { timeout: 60_000 }, async () => {
  const app = express()
  let sent: ServerResponse | undefined
  let read = 0
  let most = 0
  async function* parts() {
    for (; read < partCount; read++) {
      most = Math.max(most, sent?.writableLength ?? 0)
      yield Array.from({ length: rowsOfPart }, () => 'x'.repeat(100))
    }
  }
  const listing = route({ method: 'get', path: '/list', summary: '', handle: async () => okParts(parts(), (row) => row) })
  app.get('/list', (request, response, next) => {
    sent = response
    Object.assign(response.locals, { actor: 'alice', roles: ['read'], shown: (text: string) => text })
    listing.respond(request, response, next)
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const sending = get({ port: (server.address() as AddressInfo).port, path: '/list', agent: false })
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  answer.pause()
  const isRead = () => sent?.writableNeedDrain === true || read === partCount
  await expect.poll(isRead).toBe(true)
  for (let before = -1; before !== read; ) {
    before = read
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  }
  expect(read).toBeLessThan(partCount)
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += chunk
  expect(JSON.parse(text)).toHaveLength(partCount * rowsOfPart)
  expect(most).toBeLessThan(2 * 103 * rowsOfPart)
})
