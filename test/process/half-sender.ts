/** A process that keeps as many connections as it is told open, each with all but the end of a request; what is closed is opened again. */
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds. */
const longestPause = 500

if (import.meta.main) {
  process.stdin.resume().on('end', () => process.exit()) // also if the server ends before all is sent
  const [port, count, localAddress, text = ''] = process.argv.slice(2)
  let sent = 0
  const open = (): void => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress }, () => socket.write(text, () => sent++))
    socket.on('error', () => {}).resume()
    socket.on('close', () => setTimeout(open, 20 + Math.random() * longestPause))
  }
  for (let at = 0; at < Number(count); at++) {
    open()
    if (at % 50 === 49) await wait(10)
  }
  while (sent < Number(count)) await wait(50)
  console.log('all were sent once')
}
