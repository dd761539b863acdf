/** node:http: discards a response of which the client gets nothing. */
import type { IncomingMessage } from 'node:http'

/** Without the proxy's listeners, which would close the client's connection before it gets its error. */
export function letGo(answer: IncomingMessage): void {
  process.nextTick(() => {
    answer.removeAllListeners()
    answer.on('error', () => {})
    answer.destroy()
  })
}
