/** H1 with other parsers of HTTP: the gateway parses the same requests as nginx and HAProxy, or refuses them. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expressApp, messagesOf } from '../../src/adapters/http/express.ts'
import { type ListeningServer, listen } from '../../src/adapters/http/server.ts'
import { type Frame, FrontProxy } from '../support/front-proxy.ts'
import { type RawResponse, sendRaw } from '../support/raw.ts'

interface Edge extends ListeningServer {
  readonly port: number
  /** Whole valid requests, in their order, since the last call. */
  readonly taken: () => readonly Frame[]
}

/** The gateway's own reading of HTTP, with nothing behind it. */
async function startEdge(): Promise<Edge> {
  const arrived: { readonly method: string; readonly path: string; body?: string }[] = []
  const taken = (): readonly Frame[] =>
    arrived.splice(0).flatMap(({ method, path, body }) => (body === undefined ? [] : [{ method, path, body }]))
  const refusal = { status: 400, headers: {}, body: '{}' }
  const app = expressApp(
    async ({ method, path, query, protocolError: flaw, body = async () => '' }) => {
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

const count = ({ text }: RawResponse, status: number): number => text.split(`HTTP/1.1 ${status}`).length - 1

/** What is left of `all` when each of `some` is taken out, in their order. */
function without(all: readonly Frame[], some: readonly Frame[]): readonly Frame[] {
  const left = [...some]
  return all.filter((frame) => {
    const isNext = JSON.stringify(frame) === JSON.stringify(left[0])
    if (isNext) left.shift()
    return !isNext
  })
}

describe.each(['nginx', 'haproxy'] as const)('behind %s', (name) => {
  let direct: Edge
  let behind: Edge
  let proxy: FrontProxy
  let compared = 0
  beforeAll(async () => {
    direct = await startEdge()
    behind = await startEdge()
    proxy = await FrontProxy.start(name, behind.port)
  }, 360_000)
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]()
    for (const { server } of [direct, behind]) server.close().closeAllConnections()
  })

  test.each(raws)('H1: %s is the same requests to the proxy and to the gateway, or is refused', async (file) => {
    const bytes = readFileSync(`${corpus}/${file}`)
    const exchange = async (idleTimeoutMs: number) => {
      const response = await sendRaw(direct.port, bytes, idleTimeoutMs)
      const through = await sendRaw(proxy.port, bytes, idleTimeoutMs)
      return { response, through, alone: direct.taken(), taken: behind.taken(), forwardedRequests: proxy.forwarded() }
    }
    const soon = await exchange(100)
    // On a busy machine a response may come later.
    const isWhole = count(soon.through, 200) >= soon.taken.length
    const { response, through, alone, taken, forwardedRequests } = isWhole ? soon : await exchange(2_000)
    compared += taken.length
    expect(without(forwardedRequests, taken), 'of what the proxy sent on').toHaveLength(forwardedRequests.length - taken.length)
    expect(count(through, 200)).toBe(taken.length)
    expect(count(through, 400)).toBeGreaterThanOrEqual(forwardedRequests.length > taken.length ? 1 : 0)
    const both = Math.min(alone.length, forwardedRequests.length)
    expect(alone.slice(0, both), 'the same bytes without the proxy').toEqual(forwardedRequests.slice(0, both))
    if (alone.length < forwardedRequests.length) expect([count(response, 400), response.closed]).toEqual([1, true])
  })

  test('H1: most of what is taken is compared', () => {
    console.info({ name, files: raws.length, compared })
    expect(compared).toBeGreaterThan(10)
  })
})
