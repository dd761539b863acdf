/** docs/contract.md §11: nothing reaches the provider but what is open, under whatever spelling. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendRaw } from '../support/raw.ts'
import { errorFacts, type NativeRig, refusal, sendTo, startRig } from './rig.ts'

let rig: NativeRig
beforeAll(async () => {
  rig = await startRig()
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.provider.reset())

const operations = ['/currencies', '/rate', '/transactions', '/transactions/tx-1']
const opened = ['/exchange/range', '/coins/BTC/networks', '/estimates', '/alerts/a']

/** How a path can be written so that some server takes it for another. */
function spellings(path: string): readonly string[] {
  const [, first = '', ...others] = path.split('/')
  const rest = others.map((segment) => `/${segment}`).join('')
  const encodedFirst = `%${first.charCodeAt(0).toString(16)}${first.slice(1)}`
  return [
    path,
    `/${path}`,
    `//${first}${rest}`,
    `${path}/`,
    `${path}//`,
    `${path}/.`,
    `${path}/..`,
    `${path}/../${first}`,
    `/.${path}`,
    `/./${first}${rest}`,
    `/..${path}`,
    `/../${first}${rest}`,
    `/../v2/${first}${rest}`,
    `/../../v2/${first}${rest}`,
    `/exchange/..${path}`,
    `/exchange/range/..${path}`,
    `/exchange/range/../..${path}`,
    `/coins/..${path}/networks`,
    `/coins/../..${path}`,
    `/coins/%2e%2e${path}/networks`,
    `/coins/..%2f..%2f${first}/networks`,
    `/coins/.%2e${path}`,
    `/coins/%252e%252e${path}`,
    `/coins/%2e/networks/..${path}`,
    `/alerts/..${path}`,
    `/alerts/%2e%2e${path}`,
    `/alerts/..;${path}`,
    `/alerts/..;/${first}`,
    `/alerts/..\\${first}`,
    `\\${first}${rest}`,
    `/\\${first}${rest}`,
    `/exchange\\range`,
    `/%5c${first}${rest}`,
    `/%2f${first}${rest}`,
    `/%2e%2e${path}`,
    `/%2e/${first}${rest}`,
    `/${encodedFirst}${rest}`,
    `${path}%2f`,
    `${path}%00`,
    `${path}%20`,
    `${path}%0d%0a`,
    `${path}%3f`,
    `${path}%23`,
    `${path};`,
    `${path};a=b`,
    `/;a=b${path}`,
    `/${first};x${rest}`,
    `${path}.`,
    `${path}..`,
    `${path}#`,
    `${path}#/exchange/range`,
    `${path}?`,
    `${path}?a=#b`,
    `${path}&a=b`,
    `${path},`,
    `${path}*`,
    `${path}:80`,
    `${path}@host`,
    `@host${path}`,
    `:80${path}`,
    `http://host${path}`,
    path.toUpperCase(),
    path.replace(/[a-z]/, (letter) => letter.toUpperCase()),
    `${path}é`,
    `${path}\u00a0`,
    `/\uff0e\uff0e${path}`,
    `/~${path}`,
    `/${first}/~${rest}`,
    `/api/v2${path}`,
    `/native/alpha${path}`,
    `${path}/networks`,
    `/coins${path}/networks`,
  ]
}

test('N1: of 500 spellings none reaches an operation, or another path than the one that is open', {
  timeout: 120_000,
}, async () => {
  const paths = [...new Set([...operations, ...opened, '/coins/..', '/'].flatMap(spellings))]
  const methods = ['GET', 'POST']
  expect(paths.length * methods.length).toBeGreaterThan(500)
  const statuses = new Map<string, number>()
  for (const method of methods) {
    for (const path of paths) {
      const target = `/native/alpha${path}`
      const length = method === 'POST' ? ['content-length: 0'] : []
      const bytes = Buffer.from(rig.head(`${method} ${target}`, 'connection: close', ...length), 'latin1')
      const { status, text } = await sendRaw(rig.gateway.port, bytes)
      statuses.set(`${method} ${path}`, status)
      if (status !== 200) expect([400, 404], `${method} ${path}: ${text}`).toContain(status)
      if (status === 404) expect(text, path).toContain('x-swap-reason: not_open')
    }
  }
  const isOpen = /^(?:GET \/exchange\/range|GET \/coins\/[A-Za-z0-9._~-]+\/networks|POST \/estimates)(?:\?|$)/
  const let200 = [...statuses].flatMap(([request, status]) => (status === 200 ? [request.replace(/\?$/, '')] : []))
  expect(let200.filter((request) => !isOpen.test(request))).toEqual([])
  expect(rig.provider.arrived.map(({ method, url }) => `${method} ${url.replace('/service/api/v2', '')}`)).toEqual(let200)
})

describe('N1: nothing is sent, and it is 404, for', () => {
  test.each([
    ['another method', 'POST', '/native/alpha/exchange/range'],
    ['HEAD that is not listed', 'HEAD', '/native/alpha/coins/BTC/networks'],
    ['OPTIONS', 'OPTIONS', '/native/alpha/exchange/range'],
    ['TRACE', 'TRACE', '/native/alpha/exchange/range'],
    ['a method of WebDAV', 'PROPFIND', '/native/alpha/exchange/range'],
    ['a method in small letters', 'get', '/native/alpha/exchange/range'],
    ['an unknown tag', 'GET', '/native/beta/exchange/range'],
    ['a tag in capitals', 'GET', '/native/ALPHA/exchange/range'],
    ['a tag of a prototype', 'GET', '/native/__proto__/exchange/range'],
    ['no tag', 'GET', '/native//exchange/range'],
    ['a tag and nothing more', 'GET', '/native/alpha'],
    ['a tag and a slash', 'GET', '/native/alpha/'],
    ['the mount alone', 'GET', '/native'],
    ['the mount and a slash', 'GET', '/native/'],
  ])('%s', async (_, method, path) => {
    const { status, text } = await sendRaw(rig.gateway.port, rig.head(`${method} ${path}`, 'connection: close'))
    expect(status).toBe(404)
    expect(text).toContain('x-swap-reason: not_open')
    expect(rig.provider.arrived).toHaveLength(0)
  })

  test.each([
    '/Native/alpha/exchange/range',
    '/native2/alpha',
    '/a/native/alpha/exchange/range',
    '/api/v2/native/alpha/exchange/range',
  ])('N1: %s is no path of the lane', async (path) => {
    const { status, text } = await sendRaw(rig.gateway.port, rig.head(`GET ${path}`, 'connection: close'))
    expect(status).toBe(404)
    expect(text).toContain('x-swap-reason: path')
  })
})

test('N1: where the provider opens nothing, and in passthrough mode, everything is closed', async () => {
  await using closed = await startRig({ facts: { native: [] } })
  expect(errorFacts(await closed.send('/exchange/range'))).toEqual(refusal(404, 'not_open'))
  await using passthrough = await startRig({ sections: { auth: { mode: 'passthrough' } } })
  expect(errorFacts(await passthrough.send('/exchange/range'))).toEqual(refusal(404, 'not_open'))
  expect([...closed.provider.arrived, ...passthrough.provider.arrived]).toEqual([])
})

test('N1: the query goes up as it came, and what is open is found below any base path', async () => {
  const query = 'a=b&a=c&d=%2e%2e%2f&e=%00&f=[]{}|^`"<>\'&g=/../x//y\\z&?&=&;'
  await rig.send('/coins/b-T_c.~9/networks')
  await sendRaw(rig.gateway.port, rig.head(`GET /native/alpha/exchange/range?${query}`, 'connection: close'))
  expect(rig.provider.arrived.map(({ url }) => url)).toEqual([
    '/service/api/v2/coins/b-T_c.~9/networks',
    `/service/api/v2/exchange/range?${query}`,
  ])
  for (const base of ['', '/']) {
    await using root = await startRig({ provider: rig.provider, facts: { url: new URL(rig.provider.url).origin + base } })
    expect((await root.send('/exchange/range')).status).toBe(200)
    expect(rig.provider.arrived.at(-1)?.url).toBe('/exchange/range')
  }
})

test('N1: a provider that is off is not called: 503', async () => {
  await using off = await startRig({
    facts: { state: 'off' },
    others: { beta: { form: 'B', url: 'http://127.0.0.1:9', key: 'k' } },
    sections: { auth: { mode: 'managed' }, routing: { providers: ['beta'] } },
  })
  const response = await sendTo(`${off.gateway.url}/native/alpha/exchange/range`, { key: off.key })
  expect(errorFacts(response)).toEqual(refusal(503, 'provider_busy'))
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
  expect(off.provider.arrived).toEqual([])
})
