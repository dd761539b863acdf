/** Limits the connections of one client address, so that no client takes all that the process may have. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientNetworkOf } from '../../core/access/client-network.ts'

/** One more connection of an address is closed as soon as it is made. */
export function limitConnectionsPerAddress(server: Server, max: number): void {
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = clientNetworkOf(socket.remoteAddress ?? '')
    const count = open.get(address) ?? 0
    if (count >= max) return void socket.destroy()
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}
