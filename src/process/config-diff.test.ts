import { expect, it } from 'vitest'
import { secretSettings } from '../../test/support/secret-settings.ts'
import { hashKey } from '../adapters/crypto.ts'
import { type Config, type ConfigSettings, readSettings } from '../config/index.ts'
import { secretPlaces } from '../config/secrets.ts'
import { knownForms } from '../forms/index.ts'
import { changesBetween, comparable } from './config-diff.ts'
import { needsRestart, startSettings } from './start-settings.ts'

const alpha = { form: 'A', url: 'http://127.0.0.1:9101/a/api/v2', key: 'canary-alpha', settings: {} }
const beta = { form: 'B', url: 'http://127.0.0.1:9101/b/api/v2', key: 'canary-beta' }

function read(settings: object = {}): Config {
  const whole = { auth: { mode: 'managed' }, providers: { alpha, beta }, routing: { providers: ['alpha'] } }
  return readSettings({ ...whole, ...settings } as unknown as ConfigSettings, knownForms, {})
}

function changesOf(before: Config, after: Config) {
  const [one, other] = [before, after].map((config) => comparable(config, 'salt', hashKey))
  expect(JSON.stringify([one, other])).not.toContain('canary')
  return changesBetween(one as never, other as never)
}

function linesOf(before: object, after: object): readonly string[] {
  return changesOf(read(before), read(after)).map(
    ({ key, change, before, after, takesEffect }) =>
      `${key} ${change} ${JSON.stringify(before)} ${JSON.stringify(after)} ${takesEffect}`,
  )
}

it.each<[string, object, object, readonly string[]]>([
  ['nothing', {}, {}, []],
  ['a default that is written', {}, { server: { drain: 10 }, limits: {} }, []],
  ['what only a start reads', {}, { server: { drain: 12 } }, ['server.drain changed 10 12 restart']],
  ['a key without a default', {}, { server: { connectionsPerAddress: 5 } }, ['server.connectionsPerAddress added null 5 restart']],
  ['times of the ledger', {}, { ledger: { refreshAfter: 9 } }, ['ledger.refreshAfter changed 5 9 reload']],
  ['weights', {}, { routing: { providers: ['alpha'], weights: { alpha: 2 } } }, ['routing.weights added null {"alpha":2} reload']],
  [
    'a key',
    {},
    { providers: { alpha: { ...alpha, key: 'canary-other' }, beta } },
    ['providers.alpha.key changed null null reload'],
  ],
  ['a provider', {}, { providers: { alpha } }, ['providers.beta removed null null reload']],
  [
    'a token',
    { admin: { tokens: { anna: 'canary'.repeat(6) } } },
    { admin: { tokens: { anna: 'canary'.repeat(7), ben: 'canary'.repeat(8) } } },
    ['admin.tokens.anna changed null null reload', 'admin.tokens.ben added null null reload'],
  ],
  [
    'a token with roles, and its roles',
    { admin: { tokens: { anna: 'canary'.repeat(6), ben: { token: 'canary'.repeat(8), roles: ['read'] } } } },
    {
      admin: {
        tokens: {
          anna: { token: 'canary'.repeat(6), roles: ['read'] },
          ben: { token: 'canary'.repeat(9), roles: ['read', 'operate'] },
          cid: { token: 'canary'.repeat(10), roles: ['money'] },
        },
      },
    },
    [
      'admin.tokens.anna changed null null reload',
      'admin.tokens.ben.token changed null null reload',
      'admin.tokens.ben.roles changed ["read"] ["read","operate"] reload',
      'admin.tokens.cid added null null reload',
    ],
  ],
  [
    'a password',
    { redis: { url: 'redis://:canary@r' } },
    { redis: { url: 'redis://r' }, ledger: { url: 'postgres://u:canary@db/x' } },
    ['redis.url changed null null restart', 'ledger.url changed null null restart'],
  ],
  ['a server without one', {}, { redis: { url: 'redis://r' } }, ['redis.url changed "" "redis://r" restart']],
])('tells of %s, without a secret', (_, before, after, lines) => {
  expect(linesOf(before, after)).toEqual(lines)
})

it('tells of each secret only that it is another one', () => {
  const changes = changesOf(read(secretSettings('canary1')), read(secretSettings('canary2')))
  expect(changes).toEqual(changes.map((change) => ({ ...change, change: 'changed', before: null, after: null, isSecret: true })))
  const changed = changes.map(({ key }) => key.split('.'))
  const unseen = secretPlaces.filter(
    ({ path }) => !changed.some((key) => key.length === path.length && path.every((name, at) => name === '*' || name === key[at])),
  )
  expect(unseen).toEqual([])
})

it('tells of the assets of another table by their codes', () => {
  const [whole, other] = [read(), read()]
  const [first, ...coins] = whole.assets.coins
  const changed = { ...other, assets: { coins } } as unknown as Config
  expect(changesOf(whole, changed).map(({ key, change }) => [key, change])).toEqual(
    first?.assets.map(({ code }) => [`assets.${code}`, 'removed']),
  )
})

it('a restart is needed for the sections that a reload names', () => {
  const [before, after] = [
    read(),
    read({
      server: { drain: 1 },
      admin: { port: 1, hosts: ['a'] },
      replicas: 2,
      telemetry: { ratio: 0.5 },
      log: { level: 'warn' },
    }),
  ]
  const restarts = changesOf(before, after).filter(({ takesEffect }) => takesEffect === 'restart')
  expect([...new Set(restarts.map(({ key }) => key.split('.')[0]))]).toEqual(needsRestart(before, after))
})

it('what the process was started with counts, where its file has changed since', () => {
  const [started, file] = [read(), read({ server: { drain: 12 }, limits: { quotes: 7 } })]
  const before = comparable(file, 'salt', hashKey, startSettings(started))
  const keys = changesBetween(before, comparable(file, 'salt', hashKey)).map(({ key }) => key)
  expect(keys).toEqual(['server.drain'])
})
