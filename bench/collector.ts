/** A collector of traces at little cost: reads each export, and returns the empty response of OTLP (OTLP/HTTP Response, Full Success). */
import { createServer } from 'node:http'

const headers = { 'Content-Type': 'application/x-protobuf', 'Content-Length': 0 }

createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, headers).end())
}).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'))
