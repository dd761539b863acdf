/** docs/contract-operators.md §15: streams of events to listeners that do not read, or whose token is taken away. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import express, { type RequestHandler } from 'express'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { eventRoute } from '../../src/operator/events.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { readersToken, serveApi } from './served.ts'

type Listener = (event: { event: string; data: string }) => void

const authorization = 'Bearer operator-token-of-alice-0123456789'
const stopping = new AbortController()
const listeners = new Set<Listener>()
let isValid = true
let port = 0
let socket: Socket
const failures: unknown[] = []
const note = (reason: unknown): void => void failures.push(reason)
const { respond } = eventRoute({
  feed: {
    subscribe(_, listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  },
  tokens: { isValid: () => isValid },
  stopping: stopping.signal,
})
let response: ServerResponse
const keep: RequestHandler = (_, own, next) => {
  response = own
  own.locals.shown = (text: string) => text
  next()
}
const server = createServer(express().get('/api/events', keep, respond))
const others = process.listeners('uncaughtException')

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  isValid = true
  failures.length = 0
  process.removeAllListeners('uncaughtException').on('uncaughtException', note)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
  socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write(`GET /api/events HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n\r\n`)
  await vi.waitFor(() => expect(listeners.size).toBe(1), eventTimeoutMs)
})
afterEach(async () => {
  vi.useRealTimers()
  socket.destroy()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  process.removeListener('uncaughtException', note)
  for (const listener of others) process.on('uncaughtException', listener)
})

const emit = (length: number): void => {
  for (const listener of listeners) listener({ event: 'provider', data: 'x'.repeat(length) })
}

it('W18: a listener that does not read, and whose token goes, is cut off; later events do no harm', async () => {
  socket.pause()
  // More than the buffers of the connection hold, and less than what cuts it off.
  while (response.writableLength < 200_000) {
    emit(60_000)
    await setImmediate()
  }
  isValid = false
  vi.advanceTimersByTime(1_000)
  emit(10)
  if (listeners.size > 0) await once(response, 'close')
  await setImmediate()
  expect(failures).toEqual([])
  expect([response.destroyed, listeners.size]).toEqual([true, 0])
})

it('W18: after the end of the stream nothing is written to it', async () => {
  isValid = false
  const written = [...listeners][0]
  await vi.waitFor(() => expect(listeners.size).toBe(0), { timeout: eventTimeoutMs })
  written?.({ event: 'provider', data: '{}' })
  await setImmediate()
  expect(failures).toEqual([])
})

it('listeners that come and go cause no more looks at the ledger than those that stay, and each gets what is so', async () => {
  vi.useRealTimers()
  let looks = 0
  const ledgerAdmin = {
    openCounts: async () => [],
    unresolved: async () => [],
    unresolvedCount: async () => ++looks,
    needPerson: async () => [],
  }
  const none = { read: async () => [] }
  await using api = await serveApi(
    { ledgerAdmin, overrides: none, suspensions: none, replicaFigures: none },
    { providers: [], routing: { providers: [], strategy: 'priority' } },
  )
  const headers = { authorization: `Bearer ${readersToken}` }
  for (let number = 0; number < 20; number++) {
    const { body } = await fetch(`${api.url}/api/events`, { headers })
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('event: unresolved')) text += (await reader?.read())?.value ?? ''
    await reader?.cancel()
    // Its place is given back.
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect(looks).toBeLessThanOrEqual(2)
})
