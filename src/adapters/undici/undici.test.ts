import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { upstream } from './index.ts'

const request = { method: 'POST', path: '/transactions', query: '', headers: {}, body: async () => '{}' }

test.each(['retire', 'close'] as const)('L51: a request after %s fails as not sent', async (end) => {
  const provider = upstream({ url: 'http://127.0.0.1:9', timeoutMs: 1_000 })
  await provider[end]()
  await expect(provider.http(request)).rejects.toMatchObject({ kind: 'unreachable', noEffect: true })
})

test('a request may allow a larger response than 2 MiB, and no larger one', async () => {
  const server = createServer((_, response) => void response.end('x'.repeat(3_000_000))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const provider = upstream({ url: `http://127.0.0.1:${port}`, timeoutMs: 5_000 })
  const get = (maxResponseBytes?: number) =>
    provider.http({
      ...{ method: 'GET', path: '/coins', query: '', headers: {} },
      ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    })
  expect((await get(3_000_000)).body).toHaveLength(3_000_000)
  for (const tooSmall of [undefined, 2_999_999]) await expect(get(tooSmall)).rejects.toMatchObject({ kind: 'unreadable' })
  await provider.close()
  server.closeAllConnections()
  server.close()
})
