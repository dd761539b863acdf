import { expect, onTestFinished, test } from 'vitest'
import { type Damage, DamagedResponse } from '../sandbox/server.ts'
import type { Http, HttpResponse } from '../wire/http.ts'
import { listenOnLoopback } from './sandbox.ts'

const whole: HttpResponse = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"a":"é"}' }

async function serving(handle: Http): Promise<string> {
  const { port, close } = await listenOnLoopback(handle, 0)
  onTestFinished(close)
  return `http://127.0.0.1:${port}`
}

function damaged(damage: Damage): Promise<string> {
  return serving(async ({ path }) => (path === '/whole' ? whole : new DamagedResponse(damage, whole)))
}

test('request and response arrive unchanged', async () => {
  const url = await serving(async ({ method, path, query, headers, address, body }) => {
    const received = { method, path, query, address, sent: await body?.(), key: headers['x-api-key'] }
    return { ...whole, body: JSON.stringify(received) }
  })
  const response = await fetch(`${url}/a/b%20c?d=e%2Ff`, { method: 'POST', body: 'é', headers: { 'X-API-Key': 'k' } })
  expect(await response.json()).toEqual({
    method: 'POST',
    path: '/a/b%20c',
    query: 'd=e%2Ff',
    address: '127.0.0.1',
    sent: 'é',
    key: 'k',
  })
  expect(response.headers.get('content-type')).toBe('application/json')
})

test('every response says that it is of a sandbox', async () => {
  const response = await fetch(await serving(async () => whole))
  expect(response.headers.get('x-swap-sandbox')).toBe('true')
})

test('a body that is too large or not UTF-8 is rejected', async () => {
  const url = await serving(async ({ body }) => {
    const reason: unknown = await body?.().catch((fault) => fault)
    return { ...whole, body: JSON.stringify(reason) }
  })
  const answerTo = async (body: string | Uint8Array<ArrayBuffer>) => (await fetch(url, { method: 'POST', body })).json()
  expect(await answerTo('x'.repeat(16_385))).toMatchObject({ kind: 'tooLarge' })
  expect(await answerTo(new Uint8Array([0xff]))).toMatchObject({ kind: 'invalid' })
})

test('a reset breaks the connection before any response', async () => {
  const url = await damaged('reset')
  await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
})

test('a truncated response has its status and ends inside its body', async () => {
  const response = await fetch(await damaged('truncation'))
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow()
})

test('silence blocks one request while others get responses', async () => {
  const url = await damaged('silence')
  const silent = fetch(url).then(
    () => 'completed',
    () => 'aborted',
  )
  expect((await fetch(`${url}/whole`)).status).toBe(200)
  expect(await Promise.race([silent, Promise.resolve('nothing yet')])).toBe('nothing yet')
})

test('a port that is taken is an error', async () => {
  const url = new URL(await serving(async () => whole))
  await expect(listenOnLoopback(async () => whole, Number(url.port))).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
