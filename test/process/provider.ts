/** A provider that responds only when a test lets it. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const currencies = {
  data: [{ code: 'BTC', name: 'Bitcoin', icon: 'https://icons.example/btc.svg' }],
  pagination: { page: 1, size: 100, total: 1 },
}

export interface HeldProvider extends AsyncDisposable {
  readonly url: string
  /** Resolves when a request has come. */
  readonly requested: Promise<unknown>
  /** Responds to the received requests, with a currency list in Form A. */
  readonly release: () => void
}

export async function heldProvider(): Promise<HeldProvider> {
  const held: ServerResponse[] = []
  const server = createServer((_, response) => held.push(response))
  const requested = once(server, 'request')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/api/v2`,
    requested,
    release: () => {
      for (const response of held.splice(0)) response.setHeader('content-type', 'application/json').end(JSON.stringify(currencies))
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
