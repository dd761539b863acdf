/**
 * Receives webhooks: `node examples/typescript/webhooks.ts <secret>`, with the secret and the URL of `swapgate webhooks listen` or `trigger`.
 * PORT names another port than 3000.
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { readWebhook } from '../../clients/typescript/webhooks.ts'

const [secret = ''] = process.argv.slice(2)
const port = Number(process.env.PORT ?? 3000)
// A change may come again. Keep what you have handled in your database, with what you did about it.
const handled = new Set<string>()

const server = createServer(async (request, response) => {
  try {
    const { id, type, swap } = readWebhook(await text(request), request.headers, secret)
    if (!handled.has(id)) console.log(['verified:', type, swap?.id, swap?.status].join(' ').trim())
    handled.add(id)
    response.writeHead(204).end()
  } catch (error) {
    console.log(`refused: ${(error as Error).message}`)
    response.writeHead(400).end()
  }
})
server.listen(port, '127.0.0.1', () => console.log(`webhooks can be sent to http://127.0.0.1:${port}`))
