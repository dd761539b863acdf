/** Calls between two processes of this program over the channel that Node opens between them. */
import type { SendHandle } from 'node:child_process'
import type { ListeningSocket } from '../adapters/http/server.ts'

/** The other process: `node:cluster`'s worker, or in a worker `process`. */
interface Peer {
  send?(message: Message[], socket: SendHandle, done: (error: Error | null) => void): unknown
  on(event: 'message', listener: (messages: Message[], socket?: ListeningSocket) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
}

type Message =
  | { readonly call: number; readonly name: string; readonly values: readonly unknown[] }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly error: string }

/** What the other process may call, by name. Values pass as structured clones; a socket comes after them. */
export type Handlers = Readonly<Record<string, (...values: never[]) => unknown>>

export class Channel {
  private readonly peer: Peer
  private readonly handlers: Handlers
  private readonly calls = new Map<number, PromiseWithResolvers<unknown>>()
  private outgoing: Message[] = []
  private callCount = 0
  private isClosed = false

  constructor(peer: Peer, handlers: Handlers) {
    this.peer = peer
    this.handlers = handlers
    peer.on('message', (messages, socket) => {
      for (const message of messages) this.receive(message, socket)
    })
    peer.on('disconnect', () => this.close())
  }

  /** Rejects with the message of the other side's failure, and if that process has ended. */
  async call(name: string, ...values: readonly unknown[]): Promise<unknown> {
    const call = ++this.callCount
    const answered = Promise.withResolvers<unknown>()
    this.calls.set(call, answered)
    this.send({ call, name, values })
    return await answered.promise
  }

  /** The other process gets a copy of the socket, on which it does not accept yet. */
  giveSocket(socket: ListeningSocket, name: string, ...values: readonly unknown[]): void {
    if (this.isClosed) return
    this.peer.send?.([{ call: ++this.callCount, name, values }], socket as unknown as SendHandle, (error) => {
      if (error) this.close()
    })
  }

  /** The other process has ended: also where Node does not say so, which it does not while a socket is on its way. */
  close(): void {
    this.isClosed = true
    const calls = [...this.calls.values()]
    this.calls.clear()
    for (const { reject } of calls) reject(new Error('the other process has ended'))
  }

  /** What comes up in one turn of the event loop goes together: each message is a system call on both sides. */
  private send(message: Message): void {
    if (this.isClosed) this.close()
    if (this.isClosed || this.outgoing.push(message) > 1) return
    setImmediate(() => {
      const messages = this.outgoing
      this.outgoing = []
      this.peer.send?.(messages, undefined, (error) => {
        if (error) this.close()
      })
    })
  }

  private receive(message: Message, socket: ListeningSocket | undefined): void {
    if ('call' in message)
      return void this.handle(message.call, message.name, socket ? [...message.values, socket] : message.values)
    const answered = this.calls.get(message.answer)
    this.calls.delete(message.answer)
    if ('error' in message) answered?.reject(new Error(message.error))
    else answered?.resolve(message.value)
  }

  private async handle(call: number, name: string, values: readonly unknown[]): Promise<void> {
    try {
      const handler = this.handlers[name]
      if (!handler) throw new Error(`no such call: ${name}`)
      this.send({ answer: call, value: await handler(...(values as never[])) })
    } catch (reason) {
      this.send({ answer: call, error: reason instanceof Error ? reason.message : String(reason) })
    }
  }
}
