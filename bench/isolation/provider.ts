/** Two providers in one process: a healthy one on the first port, and one with configured faults on the second. */
import { createServer, type ServerResponse } from 'node:http'
import { transaction, transactionText } from '../transaction.ts'

const states = ['well', 'slow', 'resets', 'lies'] as const
type State = (typeof states)[number]

const [healthyPort, otherPort] = process.argv.slice(2).map(Number)
const created = JSON.stringify({ ...transaction, amount_out_expected: transaction.amount_out })
let state: State = 'well'

function end(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(text)
}

/** A create is always well. */
function respond(method: string | undefined, response: ServerResponse, now: State): void {
  if (method === 'POST') end(response, created)
  else if (now === 'resets') response.socket?.resetAndDestroy()
  else if (now === 'lies') end(response, '{"id":7,"status":"paid"}')
  else if (now === 'slow') setTimeout(end, 5_000, response, transactionText)
  else end(response, transactionText)
}

const healthy = createServer(({ method }, response) => respond(method, response, 'well'))
const other = createServer(({ method, url = '' }, response) => {
  const newState = states.find((name) => url === `/state/${name}`)
  if (newState === undefined) return respond(method, response, state)
  state = newState
  response.end()
})
for (const server of [healthy, other]) server.keepAliveTimeout = 60_000
healthy.listen(healthyPort, '127.0.0.1')
other.listen(otherPort, '127.0.0.1', () => console.log('listening'))
