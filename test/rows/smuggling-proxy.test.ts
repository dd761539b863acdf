/** H1 once more, by another reader of HTTP: what nginx takes for requests the gateway takes for the same, or refuses. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expressApp, messagesOf } from '../../src/adapters/express.ts'
import { type Listening, listen } from '../../src/adapters/server.ts'
import { type Frame, Nginx } from '../support/nginx.ts'
import { sendRaw } from '../support/raw.ts'

interface Edge extends Listening {
  readonly port: number
  /** Whole requests without a flaw, in their order, since it was asked last. */
  readonly taken: () => readonly Frame[]
}

/** The gateway's own reading of HTTP, with nothing behind it. */
async function startEdge(): Promise<Edge> {
  const arrived: { readonly method: string; readonly path: string; body?: string }[] = []
  const taken = (): readonly Frame[] =>
    arrived.splice(0).flatMap(({ method, path, body }) => (body === undefined ? [] : [{ method, path, body }]))
  const refusal = { status: 400, headers: {}, body: '{}' }
  const app = expressApp(
    async ({ method, path, query, flaw, body = async () => '' }) => {
      if (flaw) return refusal
      const frame: (typeof arrived)[number] = { method, path: path + (query && `?${query}`) }
      arrived.push(frame)
      return body().then(
        (text) => {
          frame.body = text
          return { ...refusal, status: 200 }
        },
        () => refusal,
      )
    },
    { trustProxy: 0, maxBodyBytes: 16_384, cors: [] },
  )
  const listening = await listen(app, async () => refusal, { host: '127.0.0.1', port: 0, messages: messagesOf(app) })
  return { ...listening, taken, port: Number(new URL(listening.url).port) }
}

const corpus = `${import.meta.dirname}/smuggling`
const files = ['refused', 'taken'].flatMap((folder) => readdirSync(`${corpus}/${folder}`).map((file) => `${folder}/${file}`))
const raws = files.filter((file) => file.endsWith('.raw'))

let direct: Edge
let behind: Edge
let nginx: Nginx
let forwarded = 0
beforeAll(async () => {
  direct = await startEdge()
  behind = await startEdge()
  nginx = await Nginx.start(behind.port)
}, 360_000)
afterAll(async () => {
  await nginx?.[Symbol.asyncDispose]()
  for (const { server } of [direct, behind]) server.close().closeAllConnections()
})

test.each(raws)('H1: %s is the same requests to nginx and to the gateway behind it, or is refused', async (file) => {
  const bytes = readFileSync(`${corpus}/${file}`)
  const answer = await sendRaw(direct.port, bytes, 100)
  const through = await sendRaw(nginx.port, bytes, 100)
  const [alone, told] = [direct.taken(), nginx.forwarded()]
  forwarded += told.length
  expect(behind.taken(), 'what nginx sent on').toEqual(told)
  expect(through.text.split('HTTP/1.1 200').length - 1).toBe(told.length)
  const compared = Math.min(alone.length, told.length)
  expect(alone.slice(0, compared), 'the same bytes without nginx').toEqual(told.slice(0, compared))
  if (alone.length < told.length) expect([answer.text.includes('HTTP/1.1 400'), answer.closed]).toEqual([true, true])
})

test('H1: nginx does send on what is compared', () => {
  expect(forwarded).toBeGreaterThan(10)
  console.info({ files: raws.length, forwarded })
})
