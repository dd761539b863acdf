import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { UnfinishedRequests } from './unfinished-requests.ts'

const get = 'GET / HTTP/1.1\r\nHost: x\r\n'
const halfHead = `${get}X-A: ${'a'.repeat(10_000)}`
const halfBody = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10001\r\n\r\n${'a'.repeat(10_000)}`

let server: Server
let unfinished: UnfinishedRequests
let clients: Client[]
let ended: Socket[]
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
  clients = []
  ended = []
  server = createServer((request, response) => {
    if (request.method === 'GET') response.end('whole')
    else request.resume().on('end', () => response.end('whole'))
  })
  server.on('clientError', (reason: Error & { code?: string }, socket: Socket) => socket.end(`HTTP/1.1 ${reason.code}\r\n\r\n`))
  unfinished = new UnfinishedRequests(server, {
    bufferBytes: 300_000,
    maxBodyBytes: 20_000,
    onEnded: (socket) => void ended.push(socket),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  for (const { socket } of clients) socket.destroy()
  server.close()
  vi.useRealTimers()
})

const check = (): void => void vi.advanceTimersByTime(250)

interface Client {
  readonly socket: Socket
  readonly serverSocket: Socket
  received: string
}

/** Sends the bytes, which the server has got then. */
async function send(text: string): Promise<Client> {
  const connected = once(server, 'connection')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  const [serverSocket] = (await connected) as [Socket]
  const client = { socket, serverSocket, received: '' }
  clients.push(client)
  socket.on('data', (chunk) => {
    client.received += chunk
  })
  await sendMore(client, text)
  return client
}

async function sendMore({ socket, serverSocket }: Client, text: string): Promise<void> {
  const due = serverSocket.bytesRead + text.length
  socket.write(text)
  while (serverSocket.bytesRead < due) await turn()
}

const sendAll = async (texts: readonly string[]): Promise<readonly Client[]> => {
  const sent: Client[] = []
  for (const text of texts) sent.push(await send(text))
  return sent
}
const endedOf = (of: readonly Client[]): readonly number[] =>
  ended.map((socket) => of.findIndex((each) => each.serverSocket === socket))

it('the oldest go first, heads and bodies, when half of the buffer is used', async () => {
  const sent = await sendAll([halfHead, halfBody, halfHead, halfBody, halfHead, halfBody, halfHead])
  check()
  expect(endedOf(sent)).toEqual([0, 1, 2])
  const isTold = (): readonly boolean[] => sent.map(({ received }) => received.includes('ERR_HTTP_REQUEST_TIMEOUT'))
  await expect.poll(isTold).toEqual([true, true, true, false, false, false, false])
  await sendMore(sent[6] as Client, '\r\n\r\n')
  await expect.poll(() => sent[6]?.received).toContain('whole')
})

it('a trickle of single bytes does not make a request younger', async () => {
  const sent = await sendAll([halfHead, halfBody, halfHead, halfBody])
  for (let count = 0; count < 5; count++) await sendMore(sent[0] as Client, 'a')
  const all = [...sent, ...(await sendAll([halfHead]))]
  check()
  expect(endedOf(all)).toEqual([0])
})

it('whole requests take nothing of it, connections without a byte what Node needs for them', async () => {
  const sent = await sendAll([...Array.from({ length: 100 }, () => `${get}\r\n`), ...Array.from({ length: 9 }, () => '')])
  check()
  expect(endedOf(sent)).toEqual([])
  const all = [...sent, await send('')]
  check()
  expect(endedOf(all)).toEqual([100])
})

it('a half head behind whole requests in one packet counts', async () => {
  const sent = await sendAll(Array.from({ length: 6 }, () => `${get}\r\n`.repeat(3) + halfHead))
  check()
  expect(endedOf(sent)).toEqual([0])
})

it('a response that is still due does not keep an ended connection open', async () => {
  server.removeAllListeners('clientError').on('clientError', () => {})
  const sent = await sendAll(Array.from({ length: 6 }, () => halfHead))
  check()
  expect(endedOf(sent)).toEqual([0])
  vi.advanceTimersByTime(999)
  expect(sent[0]?.serverSocket.destroyed).toBe(false)
  vi.advanceTimersByTime(1)
  expect(sent.map(({ serverSocket }) => serverSocket.destroyed)).toEqual([true, false, false, false, false, false])
})

it('a head of many short lines counts with what is kept for each', async () => {
  const lines = Array.from({ length: 900 }, (_, at) => `h${at}:${at}`).join('\r\n')
  const sent = await sendAll(Array.from({ length: 3 }, () => `${get}${lines}`))
  check()
  expect(endedOf(sent)).toEqual([0, 1])
})

it('for a new connection the oldest is ended, never the new one itself nor a whole request', async () => {
  const whole = await send(`${get}\r\n`)
  const [silent, head, body] = (await sendAll(['', halfHead, halfBody])) as [Client, Client, Client]
  const newest = await send('')
  const endOldest = (): Socket | undefined => unfinished.endOldest(newest.serverSocket)
  expect([endOldest(), endOldest()]).toEqual([silent.serverSocket, head.serverSocket])
  await sendMore(body, 'a')
  await expect.poll(() => body.received).toContain('whole')
  expect(endOldest()).toBe(undefined)
  expect(whole.serverSocket.destroyed).toBe(false)
})
