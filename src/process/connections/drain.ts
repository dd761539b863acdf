/** Ends a server without losing a request (docs/contract.md §13). */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { withTimeout } from '../../domain/async.ts'

export interface Drain {
  /** From now on, every response closes its connection. */
  readonly begin: () => void
  /** Rejects new connections and waits for pending responses, at most `patience` milliseconds. */
  readonly finish: (timeoutMs: number) => Promise<void>
}

/** Watches `server` from its first request on. */
export function drainOf(server: Server): Drain {
  // A number, not a set: a set that grows and shrinks leaves dead tables behind, which keep responses alive.
  let due = 0
  const idle = Promise.withResolvers<void>()
  let isDraining = false
  let isFinishing = false
  const onResponseClose = (): void => {
    due--
    if (isFinishing && due === 0) idle.resolve()
  }
  server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    due++
    if (isDraining) response.setHeader('connection', 'close')
    response.on('close', onResponseClose)
  })
  return {
    begin() {
      isDraining = true
    },
    async finish(timeoutMs) {
      const closed = once(server, 'close')
      server.close()
      isFinishing = true
      if (due === 0) idle.resolve()
      await withTimeout(idle.promise, timeoutMs, () => {})
      server.closeAllConnections()
      await closed
    },
  }
}
