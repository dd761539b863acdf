/** One connection that stays open: a request at a time, and the bytes of its response as they came. */
import { once } from 'node:events'
import { connect } from 'node:net'

export interface RawSession extends AsyncDisposable {
  /** The whole response; it must name its length. */
  readonly sendRequest: (bytes: string) => Promise<string>
}

export async function openSession(port: number): Promise<RawSession> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  await once(socket, 'connect')
  let text = ''
  let done: ((response: string) => void) | undefined
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    const head = text.indexOf('\r\n\r\n')
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1])
    if (head < 0 || text.length < head + 4 + length) return
    const response = text
    text = ''
    done?.(response)
  })
  return {
    sendRequest(bytes) {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      done = resolve
      socket.once('close', () => reject(new Error(`the connection ended after ${text}`)))
      socket.write(bytes)
      return promise.finally(() => socket.removeAllListeners('close'))
    },
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  }
}
