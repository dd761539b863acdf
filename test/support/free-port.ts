import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A free port from `first` on, of `count`. Below 32,768, from where the system gives ports to connections that go out: one of
 * those could take it while its server is down, and a client that tries to reach it could even connect to itself.
 */
export async function freePort(first: number, count: number): Promise<number> {
  const port = first + Math.floor(Math.random() * count)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return await freePort(first, count)
  server.close()
  await once(server, 'close')
  return port
}
