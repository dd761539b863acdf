/** A server that replies to a client as a test says: one reply after the other, the last one again and again. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Printed as JSON, unless it is a text. */
  readonly body?: unknown
  /** Breaks the connection instead, after the request is there. */
  readonly breaks?: true
  /** No connection can be made after this reply. */
  readonly thenCloses?: true
}

export interface Received {
  readonly method: string
  readonly path: string
  readonly key: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

export interface Stub extends AsyncDisposable {
  readonly url: string
  readonly received: readonly Received[]
}

export async function startStub(...replies: readonly Reply[]): Promise<Stub> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { method = '', url = '', headers } = request
    const key = headers['idempotency-key'] as string | undefined
    const reply = replies[Math.min(received.length, replies.length - 1)] ?? {}
    received.push({ method, path: url, key, headers, body })
    if (reply.thenCloses) server.close()
    if (reply.breaks) return request.socket.destroy()
    const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {})
    // One connection for each request: so a closed server has no connection left.
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', connection: 'close', ...reply.headers }).end(text)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      if (server.listening) await new Promise((done) => server.close(done))
    },
  }
}

/** As swapgate refuses in Form A. */
export function refusal(status: number, reason: string, more: { retryAfter?: number; body?: object } = {}): Reply {
  const { retryAfter, body } = more
  return {
    status,
    headers: {
      'x-swap-form': 'A',
      'x-swap-reason': reason,
      'x-request-id': 'request-1',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    body: { error: 'Error', message: `It is ${reason}.`, code: status, ...body },
  }
}

export const swap = {
  id: 'alpha~1',
  status: 'wait',
  coinFrom: 'BTC',
  coinTo: 'USDTTRC20',
  amount: '0.10',
  amountTo: '9425.243471',
  depositAddress: 'bc1q-deposit',
  withdrawalAddress: 'T-withdrawal',
  createdAt: '2026-11-20T10:24:10.926Z',
  rateType: 'float',
}

export const created: Reply = { status: 201, headers: { 'x-swap-form': 'A' }, body: swap }
