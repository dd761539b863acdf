/** swapgate in a bare server of node:http, with a configuration as an object: `npm run example:node-http`. */
import { createServer } from 'node:http'
import { createSwapgate } from 'swapgate'

const swapgate = createSwapgate({
  providers: {
    alpha: { form: 'A', url: process.env.ALPHA_URL ?? 'http://127.0.0.1:9101/a/api/v2', key: process.env.ALPHA_KEY ?? '' },
  },
  routing: { providers: ['alpha'] },
  ledger: { url: process.env.LEDGER_URL ?? 'sqlite:data/swapgate.db' },
})
for (const warning of await swapgate.start()) console.error(`warning: ${warning}`)

const server = createServer(swapgate.handler)
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on ${JSON.stringify(server.address())}`)
})
process.once('SIGTERM', () => server.close(() => void swapgate.stop()))
