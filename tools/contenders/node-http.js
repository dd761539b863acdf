/** A bare node:http server with one response: what any server in Node costs at least. */
import { createServer } from 'node:http'

const [, , port, body] = process.argv
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(String(body)) }
createServer((_, response) => response.writeHead(200, headers).end(body)).listen(Number(port), '127.0.0.1', () =>
  console.log('listening'),
)
