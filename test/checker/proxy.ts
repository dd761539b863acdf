/** A TCP proxy in front of a provider that simulates a bad network. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { Connection, type Direction, type Dose } from './connection.ts'
import type { Toxic } from './toxics.ts'

export class FaultProxy implements AsyncDisposable {
  /** Connections that came, the oldest first, closed ones left out. */
  readonly connections = new Set<Connection>()
  private readonly server: Server
  private readonly target: URL
  private doses: (Dose & { readonly of?: Set<Connection>; next: number })[] = []
  private listensOn = 0

  private constructor(target: URL) {
    this.target = target
    this.server = createServer({ allowHalfOpen: true }, (client) => {
      const connection: Connection = new Connection(client, Number(target.port), () =>
        this.doses.filter(({ of }) => of?.has(connection) ?? true),
      )
      for (const dose of this.doses) if (dose.next-- > 0) dose.of?.add(connection)
      this.connections.add(connection)
      void connection.closed.then(() => this.connections.delete(connection))
    })
  }

  /** In front of this URL, on a free port. */
  static async start(target: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(new URL(target))
    await proxy.up()
    proxy.listensOn = (proxy.server.address() as AddressInfo).port
    return proxy
  }

  /** The target's URL, by way of the proxy. */
  get url(): string {
    return Object.assign(new URL(this.target), { port: String(this.listensOn) }).href
  }

  /** For every connection, open ones too; or only for the next so many, or for these. Call what it returns to lift it. */
  add(toxic: Toxic, direction: Direction, { next = 0, of }: { next?: number; of?: readonly Connection[] } = {}): () => void {
    const lifting = new AbortController()
    const isForAll = next === 0 && of === undefined
    const dose = { toxic, direction, lifted: lifting.signal, next, ...(!isForAll && { of: new Set(of) }) }
    this.doses.push(dose)
    return () => {
      this.doses = this.doses.filter((other) => other !== dose)
      lifting.abort()
    }
  }

  /** Resets every open connection. */
  cut(): void {
    for (const connection of this.connections) connection.reset()
  }

  /** The eighth toxic: connections are refused, open ones reset. */
  async down(): Promise<void> {
    const closed = once(this.server, 'close')
    this.server.close()
    this.cut()
    await closed
  }

  async up(): Promise<void> {
    this.server.listen(this.listensOn, '127.0.0.1')
    await once(this.server, 'listening')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.server.listening) await this.down()
  }
}
