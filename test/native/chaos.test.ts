// Takes long: it waits for stalled connections.
/** docs/contract.md §11: all faults of a provider and its clients at once, with a breaker that never opens. */
import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { startRawProvider } from '../support/raw.ts'
import { startRig } from './rig.ts'

const heads = [
  '',
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello, and more',
  `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(300_000)}`,
  'HTTP/1.1 302 Found\r\nlocation: x\r\n\r\n',
  'HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\n',
  '\u0000\u0001',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n',
  'HTTP/1.1 401 No\r\ncontent-length: 2\r\n\r\nno',
]

test('N18: nothing is left open, no place is taken for good, and a good provider is a good provider again', {
  timeout: 60_000,
}, async () => {
  let isSound = false
  let open = 0
  let calls = 0
  const raw = await startRawProvider((socket) => {
    if (isSound) return void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')
    calls++
    open++
    socket.once('close', () => open--)
    socket.write(heads[randomInt(heads.length)] as string, () => {
      const end = randomInt(4)
      if (end === 0) socket.resetAndDestroy()
      if (end === 1) socket.end()
      if (end === 2) setTimeout(() => socket.resetAndDestroy(), randomInt(20))
    })
  })
  await using rig = await startRig({ facts: { url: raw.url, timeout: 0.3, nativeIdle: 0.15 } })
  const requests = [
    () => rig.head('GET /native/alpha/exchange/range'),
    () => `${rig.head('GET /native/alpha/exchange/range')}${rig.head('HEAD /native/alpha/exchange/range')}`,
    () => `${rig.head('POST /native/alpha/estimates', 'content-length: 100000')}${'x'.repeat(randomInt(100_001))}`,
    () =>
      `${rig.head('POST /native/alpha/estimates', 'transfer-encoding: chunked')}5\r\nhello\r\n${randomInt(2) ? '0\r\n\r\n' : ''}`,
    () => `${rig.head('DELETE /native/alpha/alerts/a', 'transfer-encoding: chunked')}fffff0\r\n${'x'.repeat(1_200_000)}`,
    () => rig.head('GET /native/alpha/exchange/range').replace('HTTP/1.1', 'HTTP/1.0'),
  ]
  const one = async (): Promise<void> => {
    const socket = connect(rig.gateway.port, '127.0.0.1').on('error', () => {})
    const closed = new Promise((resolve) => void socket.once('close', resolve))
    socket.write((requests[randomInt(requests.length)] as () => string)())
    if (randomInt(2)) socket.resume()
    setTimeout(() => (randomInt(2) ? socket.destroy() : socket.resetAndDestroy()), randomInt(600))
    await closed
  }
  for (let round = 0; round < 12; round++) await Promise.all(Array.from({ length: 40 }, one))
  expect(calls).toBeGreaterThan(200)
  await vi.waitFor(() => expect(open).toBe(0), eventTimeoutMs)
  isSound = true
  // Again if the machine stalls for longer than the provider may take. A place that is taken for good stays taken.
  await vi.waitFor(async () => {
    const sound = await Promise.all(Array.from({ length: 60 }, () => rig.send('/exchange/range')))
    expect(sound.map(({ status, body }) => `${status} ${body}`)).toEqual(Array(60).fill('200 hello'))
  }, eventTimeoutMs)
  await raw.close()
})
