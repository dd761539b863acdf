/** node:http: ends an answer of which nothing goes down. */
import type { IncomingMessage } from 'node:http'

/** The proxy would take its end for a reason to cut the client's connection, which waits for an error in its form. */
export function letGo(answer: IncomingMessage): void {
  process.nextTick(() => {
    answer.removeAllListeners()
    answer.on('error', () => {})
    answer.destroy()
  })
}
