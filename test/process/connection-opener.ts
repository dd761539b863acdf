/** A process that opens connections, sends one request on each, and keeps those with a response until its standard input ends. */
import { connect, type Socket } from 'node:net'

const request = 'GET /nowhere HTTP/1.1\r\nHost: gateway\r\n\r\n'
/** Connections opened at a time: fewer than the backlog of a listener. */
const atOnce = 100

/** What became of them; printed as JSON as soon as it is known of all. */
export interface Opened {
  readonly held: number
  readonly closed: number
  /** Milliseconds until the slowest of those that were closed was. */
  readonly slowest: number
}

async function open(port: number, localAddress: string): Promise<{ readonly isHeld: boolean; readonly after: number }> {
  const began = performance.now()
  const socket: Socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
  socket.on('connect', () => socket.write(request))
  const isHeld = await new Promise<boolean>((resolve) => {
    // A busy gateway refuses the request and closes: that one is not kept.
    socket.on('data', (head) => /^connection: close/im.test(String(head)) || resolve(true)).once('close', () => resolve(false))
  })
  return { isHeld, after: performance.now() - began }
}

async function run(port: number, count: number, localAddress: string): Promise<void> {
  const results: Awaited<ReturnType<typeof open>>[] = []
  let left = count
  const work = async (): Promise<void> => {
    while (left-- > 0) results.push(await open(port, localAddress))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const closed = results.filter(({ isHeld }) => !isHeld)
  const slowest = Math.max(0, ...closed.map(({ after }) => after))
  console.log(JSON.stringify({ held: count - closed.length, closed: closed.length, slowest } satisfies Opened))
  process.stdin.resume().on('end', () => process.exit())
}

if (import.meta.main) {
  const [port, count, address = '127.0.0.1'] = process.argv.slice(2)
  await run(Number(port), Number(count), address)
}
