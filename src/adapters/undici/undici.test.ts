import { expect, test } from 'vitest'
import { upstream } from './index.ts'

const request = { method: 'POST', path: '/transactions', query: '', headers: {}, body: async () => '{}' }

test.each(['retire', 'close'] as const)('L51: a request after %s fails as not sent', async (end) => {
  const provider = upstream({ url: 'http://127.0.0.1:9', timeoutMs: 1_000 })
  await provider[end]()
  await expect(provider.http(request)).rejects.toMatchObject({ kind: 'unreachable', noEffect: true })
})
