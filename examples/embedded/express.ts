/** swapgate in an express application: `npm run example:express`. It reads the raw body itself: mount it in front of every body parser. */
import express from 'express'
import { createSwapgate } from 'swapgate'

const swapgate = createSwapgate(process.env.SWAPGATE_CONFIG ?? 'config/gateway.yaml')
for (const warning of await swapgate.start()) console.error(`warning: ${warning}`)

const app = express()
app.use('/swap', swapgate.handler)
app.use(express.json())
app.get('/', (_, response) => void response.send('My own application'))
app.get('/metrics', async (_, response) => {
  response.type(swapgate.registry.contentType).send(await swapgate.registry.metrics())
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on ${JSON.stringify(server.address())}`)
})
process.once('SIGTERM', () => server.close(() => void swapgate.stop()))
