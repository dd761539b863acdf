import { expect, it } from 'vitest'
import { parseRedisUrl } from './redis-url.ts'

const plain = { isEncrypted: false, credentials: {}, sentinelCredentials: {}, name: '', database: 0 }

it.each([
  ['redis://localhost', { ...plain, kind: 'single', endpoints: [{ host: 'localhost', port: 6379 }] }],
  ['redis://10.0.0.1:7000/3', { ...plain, kind: 'single', endpoints: [{ host: '10.0.0.1', port: 7000 }], database: 3 }],
  ['redis://[::1]:7000', { ...plain, kind: 'single', endpoints: [{ host: '::1', port: 7000 }] }],
  [
    'rediss://user:p%40ss:w%2F@host',
    {
      ...plain,
      kind: 'single',
      isEncrypted: true,
      credentials: { username: 'user', password: 'p@ss:w/' },
      endpoints: [{ host: 'host', port: 6379 }],
    },
  ],
  [
    'redis://:secret@host',
    { ...plain, kind: 'single', credentials: { password: 'secret' }, endpoints: [{ host: 'host', port: 6379 }] },
  ],
  [
    'redis+sentinel://a:1,b/group/2',
    {
      ...plain,
      kind: 'sentinel',
      name: 'group',
      database: 2,
      endpoints: [
        { host: 'a', port: 1 },
        { host: 'b', port: 26_379 },
      ],
    },
  ],
  [
    'redis+sentinel://:one@a/group?sentinel=user:t%3Fwo%2F',
    {
      ...plain,
      kind: 'sentinel',
      name: 'group',
      credentials: { password: 'one' },
      sentinelCredentials: { username: 'user', password: 't?wo/' },
      endpoints: [{ host: 'a', port: 26_379 }],
    },
  ],
  [
    'rediss+sentinel://a/group/2?sentinel=:two',
    {
      ...plain,
      kind: 'sentinel',
      isEncrypted: true,
      name: 'group',
      database: 2,
      sentinelCredentials: { password: 'two' },
      endpoints: [{ host: 'a', port: 26_379 }],
    },
  ],
  [
    'redis+cluster://a:1,b',
    {
      ...plain,
      kind: 'cluster',
      endpoints: [
        { host: 'a', port: 1 },
        { host: 'b', port: 6379 },
      ],
    },
  ],
])('%s', (url, address) => {
  expect(parseRedisUrl(url)).toEqual(address)
})

it.each([
  'redis://',
  'redis://secret@a,b',
  'redis://a/b',
  'redis://a/1/2',
  'redis://a:0',
  'redis://a:65536',
  'redis://a:secret',
  'redis://%zz@a',
  'redis+sentinel://a:1,b',
  'redis+sentinel://a/secret/c',
  'redis+cluster://a/1',
  'redis://a?sentinel=:secret',
  'redis+cluster://a?sentinel=:secret',
  'redis+sentinel://a/group?sentinel=',
  'redis+sentinel://a/group?password=secret',
  'redis+other://a',
  'http://a',
])('%s is refused, and the message contains no part of it', (url) => {
  expect(() => parseRedisUrl(url)).toThrow('redis.url: must be redis://…, redis+sentinel://…/name or redis+cluster://…')
})
