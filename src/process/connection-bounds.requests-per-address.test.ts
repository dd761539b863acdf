import { beforeEach, describe, expect, it } from 'vitest'
import type { Http, HttpResponse } from '../wire/http.ts'
import { type AddressBound, limitRequestsPerAddress } from './connection-bounds.ts'

let pending: ((status: number) => void)[]
beforeEach(() => {
  pending = []
})

const response = (status: number): HttpResponse => ({ status, headers: {}, body: '' })

/** What is refused has its response at once; all else waits. */
const handle: Http = ({ protocolError }) =>
  protocolError
    ? Promise.resolve({ ...response(429), body: `${protocolError.kind} ${protocolError.retryAfter}` })
    : new Promise((resolve) => pending.push((status) => resolve(response(status))))

function limited(bound: AddressBound): (address: string) => Promise<HttpResponse> {
  const http = limitRequestsPerAddress(handle, bound)
  return (address) => http({ method: 'GET', path: '/', query: '', headers: {}, address })
}

describe('requests in progress', () => {
  it('of one address are bounded, those of others are not', async () => {
    const send = limited({ max: 2, from: 0 })
    const first = [send('192.0.2.1'), send('192.0.2.1')]
    expect(await send('192.0.2.1')).toMatchObject({ status: 429, body: 'limited 1' })
    const other = send('192.0.2.2')
    for (const respond of pending) respond(200)
    expect((await Promise.all([...first, other])).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('count until they have their response', async () => {
    const send = limited({ max: 1, from: 0 })
    for (const status of [200, 500]) {
      const sent = send('192.0.2.1')
      pending.pop()?.(status)
      expect((await sent).status).toBe(status)
    }
  })

  it('are bounded only while all addresses together have many', async () => {
    const send = limited({ max: 1, from: 3 })
    const sent = [send('192.0.2.1'), send('192.0.2.1'), send('192.0.2.1')]
    expect(pending).toHaveLength(3)
    expect((await send('192.0.2.1')).status).toBe(429)
    const other = send('192.0.2.2')
    for (const respond of pending) respond(200)
    await Promise.all([...sent, other])
  })

  it('of an IPv6 /64 are those of one address', async () => {
    const send = limited({ max: 1, from: 0 })
    const sent = [send('2001:db8::1'), send('2001:db8:0:1::1')]
    expect((await send('2001:db8::ffff')).status).toBe(429)
    for (const respond of pending) respond(200)
    await Promise.all(sent)
  })
})
