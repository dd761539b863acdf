/** Ends a server without losing a request (`spec/contract.md` §13). */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'

export interface Drain {
  /** From now on every answer ends its connection. */
  readonly begin: () => void
  /** Refuses new connections and waits for the answers that are due, at most `patience` milliseconds. */
  readonly finish: (patience: number) => Promise<void>
}

/** Watches `server` from its first request on. */
export function drainOf(server: Server): Drain {
  const due = new Set<ServerResponse>()
  const idle = Promise.withResolvers<void>()
  let isDraining = false
  let isFinishing = false
  const sayClose = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader('connection', 'close')
  }
  server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    due.add(response)
    if (isDraining) sayClose(response)
    response.once('close', () => {
      due.delete(response)
      if (isFinishing && due.size === 0) idle.resolve()
    })
  })
  return {
    begin() {
      isDraining = true
      due.forEach(sayClose)
    },
    async finish(patience) {
      const closed = once(server, 'close')
      server.close()
      isFinishing = true
      if (due.size === 0) idle.resolve()
      const timer = setTimeout(idle.resolve, patience)
      await idle.promise
      clearTimeout(timer)
      server.closeAllConnections()
      await closed
    },
  }
}
