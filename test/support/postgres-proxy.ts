/** Between a ledger and its PostgreSQL: it can cut, stall, refuse, and lose a COMMIT or its reply. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/** What of a COMMIT does not arrive: the request at the server, or its reply at the ledger. */
export type Lost = 'request' | 'response'

export interface PostgresProxy {
  /** Of the database, through the proxy. */
  readonly url: string
  readonly cut: () => void
  readonly silence: () => void
  readonly refuse: () => void
  readonly admit: () => Promise<void>
  /** From now on: so many COMMITs lose this, and their connection with it. `then` is called at each. */
  readonly loseCommits: (lost: Lost, count: number, then?: () => void) => void
  /** From now on `see` gets what the ledger sends. */
  readonly onSent: (see: (text: string) => void) => void
  /** From now on it is called each time the server is ready again after a statement (`ReadyForQuery`): a round trip has ended. */
  readonly onReady: (see: () => void) => void
  /** From now on the server writes the severity of its errors in German, as with `lc_messages`. */
  readonly speakGerman: () => void
  /** From now on a connection beside so many that are open is never answered. */
  readonly silenceBeyond: (open: number) => void
  /** New connections lead to this server; those that are open stay where they are. */
  readonly lead: (server: string) => void
  readonly close: () => void
}

export async function startPostgresProxy(database: string): Promise<PostgresProxy> {
  let server = new URL(database)
  const sockets = new Set<Socket>()
  let losing: { readonly lost: Lost; left: number; readonly then: () => void } | undefined
  const commits = commitFinder()
  let see: (text: string) => void = () => {}
  let seeReady = (): void => {}
  let isGerman = false
  let mostAnswered = Number.POSITIVE_INFINITY
  const listener = createServer((near) => {
    if (sockets.size >= 2 * mostAnswered) return void near.on('error', () => {}).resume()
    const far = connect(Number(server.port), server.hostname)
    const end = (): void => {
      for (const socket of [near, far]) {
        socket.destroy()
        sockets.delete(socket)
      }
    }
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}).on('close', end))
    far.on(
      'data',
      readyCounter(() => seeReady()),
    )
    far.pipe(translated(() => isGerman)).pipe(near)
    near.on('data', (chunk: Buffer) => {
      see(chunk.toString('latin1'))
      const isLost = commits(chunk) && losing !== undefined && losing.left > 0
      if (!isLost) return void far.write(chunk)
      const { lost, then } = losing as NonNullable<typeof losing>
      ;(losing as { left: number }).left--
      const lose = (): void => {
        end()
        then()
      }
      if (lost === 'request') return lose()
      far.unpipe()
      far.once('data', lose).resume()
      far.write(chunk)
    })
  })
  const listen = async (on: number): Promise<void> => void (await once(listener.listen(on, '127.0.0.1'), 'listening'))
  await listen(0)
  const own = (listener.address() as AddressInfo).port
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: Object.assign(new URL(database), { hostname: '127.0.0.1', port: own }).href,
    cut,
    silence() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    refuse: () => void listener.close(),
    admit: () => listen(own),
    loseCommits(lost, count, then = () => {}) {
      losing = { lost, left: count, then }
    },
    speakGerman() {
      isGerman = true
    },
    silenceBeyond(open) {
      mostAnswered = open
    },
    lead(next) {
      server = new URL(next)
    },
    onSent(next) {
      see = next
    },
    onReady(next) {
      seeReady = next
    },
    close() {
      listener.close()
      cut()
    },
  }
}

/** What the server says, with another word for the severity of an error: it is one letter longer. */
function translated(isGerman: () => boolean): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (!isGerman()) return done(null, chunk)
      const text = chunk.toString('latin1').replace(/E([\s\S]{4})SERROR\0/g, (_, length: string) => {
        const longer = Buffer.alloc(4)
        longer.writeUInt32BE(Buffer.from(length, 'latin1').readUInt32BE() + 1)
        return `E${longer.toString('latin1')}SFEHLER\0`
      })
      done(null, Buffer.from(text, 'latin1'))
    },
  })
}

/** Reads what the server sends: each message is a letter, and its length in four bytes that count themselves. */
function readyCounter(ready: () => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  let isOpen = false
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      if (rest[0] === 'Z'.charCodeAt(0)) {
        if (isOpen) ready()
        isOpen = true // the first one ends the connecting
      }
      rest = rest.subarray(1 + rest.readUInt32BE(1))
    }
  }
}

/** Whether a chunk has a COMMIT: its text, or the name under which a connection has prepared it. */
function commitFinder(): (chunk: Buffer) => boolean {
  const names = new Set<string>()
  return (chunk) => {
    const text = chunk.toString('latin1')
    const prepared = /([\w-]+)\0commit\0/i.exec(text)?.[1]
    if (prepared !== undefined) names.add(prepared)
    return /(\0commit|-commits)\0/i.test(text) || [...names].some((name) => text.includes(`\0${name}\0`))
  }
}
