/** A server that is farther away: what goes to it and what comes from it arrives later, in order, to a tenth of a millisecond. */
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
      const deliver = delayed(milliseconds)
      from.on('data', (chunk) => deliver(() => to.write(chunk)))
      from.on('error', () => {})
      from.on('close', () => deliver(() => to.destroy()))
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

/** A timer may be this late: the rest is waited for in turns of the event loop. */
const timerLatenessMs = 1.5

/** Does things in order, each so long after it was asked. */
function delayed(milliseconds: number): (work: () => void) => void {
  const queue: { readonly at: number; readonly work: () => void }[] = []
  const deliver = (): void => {
    for (let [first] = queue; first && first.at <= performance.now(); [first] = queue) {
      queue.shift()
      first.work()
    }
    const [next] = queue
    if (!next) return
    const restMs = next.at - performance.now() - timerLatenessMs
    if (restMs >= 1) setTimeout(deliver, restMs)
    else setImmediate(deliver)
  }
  return (work) => {
    queue.push({ at: performance.now() + milliseconds, work })
    if (queue.length === 1) deliver()
  }
}
