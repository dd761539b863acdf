import { describe, expect, it } from 'vitest'
import { findOpenPath, namedSwaps, type OpenPath, overlaps, parseOpenPath } from './native.ts'

const open = ['GET /exchange/range', 'GET /coins/{}/networks', 'POST /estimates', 'HEAD /coins/{}/networks'].map(
  (entry) => parseOpenPath(entry) as OpenPath,
)

describe('an entry', () => {
  it.each([
    'GET /a',
    'HEAD /a/b',
    'POST /{}',
    'PUT /a/{}/b',
    'PATCH /a-b_c.d~e',
    'DELETE /A1',
    'GET /a/{id}',
    'POST /{id}/{}/{id}',
  ])('%s is one', (entry) => {
    expect(parseOpenPath(entry)).toMatchObject({ method: entry.split(' ')[0], pattern: entry.split(' ')[1] })
  })

  it.each([
    '',
    'GET',
    '/a',
    'GET a',
    'GET  /a',
    'GET /a ',
    ' GET /a',
    'get /a',
    'OPTIONS /a',
    'TRACE /a',
    'CONNECT /a',
    'GET /',
    'GET //a',
    'GET /a/',
    'GET /a//b',
    'GET /./a',
    'GET /a/..',
    'GET /a/{ID}',
    'GET /a/{ids}',
    'GET /a/x{id}',
    'GET /a/x{}',
    'GET /a/{}x',
    'GET /a?b=c',
    'GET /a#b',
    'GET /a%20b',
    'GET /a\\b',
    'GET /a;b',
    'GET /*',
    'GET /a/:id',
    'GET https://host/a',
  ])('%j is none', (entry) => expect(parseOpenPath(entry)).toBeUndefined())
})

describe('a path', () => {
  it.each([
    ['GET', '/exchange/range'],
    ['GET', '/coins/BTC/networks'],
    ['GET', '/coins/.../networks'],
    ['GET', '/coins/~a-b_c.d/networks'],
    ['HEAD', '/coins/BTC/networks'],
    ['POST', '/estimates'],
  ])('%s %s is open', (method, path) => expect(findOpenPath(open, method, path)).toMatchObject({ method }))

  it.each([
    ['HEAD', '/exchange/range'],
    ['POST', '/exchange/range'],
    ['get', '/exchange/range'],
    ['GET', '/estimates'],
    ['GET', '/Exchange/range'],
    ['GET', '/exchange/range/'],
    ['GET', '//exchange/range'],
    ['GET', '/exchange//range'],
    ['GET', '/exchange/./range'],
    ['GET', '/coins/../networks'],
    ['GET', '/coins/./networks'],
    ['GET', '/coins/a%2fb/networks'],
    ['GET', '/coins/a\\b/networks'],
    ['GET', '/coins/a;b/networks'],
    ['GET', '/coins/{}/networks'],
    ['GET', '/coins//networks'],
    ['GET', '/coins/a/b/networks'],
    ['GET', '/exchange/range#x'],
    ['GET', '/exchange/range\n'],
    ['GET', 'exchange/range'],
    ['GET', ''],
    ['GET', '/'],
  ])('%s %j is closed', (method, path) => expect(findOpenPath(open, method, path)).toBeUndefined())
})

describe('an entry and an operation', () => {
  const meets = (entry: string, method: string, pattern: string): boolean =>
    overlaps(parseOpenPath(entry) as OpenPath, method, pattern)

  it.each([
    ['GET /rate', 'GET', '/rate'],
    ['GET /RATE', 'GET', '/rate'],
    ['HEAD /rate', 'GET', '/rate'],
    ['GET /{}', 'GET', '/rate'],
    ['GET /transactions/{}', 'GET', '/transactions/{id}'],
    ['GET /pair/btc-bitcoin', 'GET', '/pair/{coin}-{network}'],
    ['GET /pair/order-1', 'GET', '/pair/order-{id}'],
    ['GET /transactions/last', 'GET', '/transactions/{id}'],
    ['GET /{}/{}', 'GET', '/transactions/{id}'],
    ['POST /{}', 'POST', '/transactions'],
    ['GET /transactions/{id}', 'GET', '/transactions/{id}'],
    ['GET /{id}', 'GET', '/rate'],
  ])('%s meets %s %s', (entry, method, pattern) => expect(meets(entry, method, pattern)).toBe(true))

  it.each([
    ['POST /rate', 'GET', '/rate'],
    ['GET /rate/range', 'GET', '/rate'],
    ['GET /rates', 'GET', '/rate'],
    ['DELETE /transactions/{}', 'GET', '/transactions/{id}'],
    ['GET /transactions/{}/refund', 'GET', '/transactions/{id}'],
  ])('%s does not meet %s %s', (entry, method, pattern) => expect(meets(entry, method, pattern)).toBe(false))
})

describe('a call', () => {
  const entry = parseOpenPath('GET /swaps/{id}/of/{}') as OpenPath

  it('names swaps of its caller at {id}, and what may be a swap at {} and in its query', () => {
    expect(findOpenPath([entry], 'GET', '/swaps/a/of/b')).toBe(entry)
    expect(namedSwaps(entry, '/swaps/a/of/b', '')).toEqual({ own: ['a'], other: ['b'] })
    expect(namedSwaps(entry, '/swaps/a/of/b', 'x=c&y=%64&z')).toEqual({ own: ['a'], other: ['b', 'c', 'd', ''] })
    expect(namedSwaps(entry, '/swaps/a/of/b', 'x=c,d&y=12.5')).toEqual({
      own: ['a'],
      other: ['b', 'c,d', '12.5', 'c', 'C', 'd', 'D'],
    })
  })
})
