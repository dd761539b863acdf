/** A server that is farther away: what goes to it and what comes from it arrives later, in order. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface DistantServer extends AsyncDisposable {
  /** Of the server, through the distance. */
  readonly url: string
}

/** `milliseconds`: each way. */
export async function startDistantServer(url: string, milliseconds: number): Promise<DistantServer> {
  const server = new URL(url)
  const sockets = new Set<Socket>()
  const listener = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: Number(server.port), host: server.hostname, noDelay: true })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => setTimeout(() => to.write(chunk), milliseconds))
      from.on('error', () => {})
      from.on('close', () => setTimeout(() => to.destroy(), milliseconds))
    }
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port }).href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}
