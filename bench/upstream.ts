/** A provider at almost no cost: one response, written after each request. */
import { createServer, type Socket } from 'node:net'
import { transactionText } from './transaction.ts'

const response = [
  'HTTP/1.1 200 OK',
  'Content-Type: application/json',
  `Content-Length: ${Buffer.byteLength(transactionText)}`,
  '',
  transactionText,
].join('\r\n')
const end = '\r\n\r\n'

function serve(socket: Socket): void {
  let rest = ''
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    const requests = (rest + chunk.toString('latin1')).split(end)
    rest = requests.pop() ?? ''
    if (requests.length > 0) socket.write(response.repeat(requests.length), 'latin1')
  })
}

createServer(serve).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'))
