import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { secretSettings } from '../../test/support/secret-settings.ts'
import { knownForms } from '../forms/index.ts'
import { type ConfigSettings, readSettings } from './index.ts'
import { isSecretAt, keysIn, secretPlaces } from './secrets.ts'

const page = readFileSync('docs/configuration.md', 'utf8')
const rows = [...page.matchAll(/^\| `([a-z][^`]*)` \|[^|]*\| (.*) \|$/gm)].map(([, key = '', meaning = '']) => ({ key, meaning }))

function read(sections: object) {
  return readSettings(sections as ConfigSettings, knownForms, {})
}

describe('a key of the configuration', () => {
  /** By its last name, or by what the page says of it. */
  const soundsSecret = /(?:key|secret|token|tokens|hook|passw\w*|credentials?|proxy|url|endpoint|settings)$/i
  const meansSecret = /\bsecret\b|password|\byour key\b(?! on)|second key|credential|encrypts/i
  /** Though it sounds so. */
  const open: Readonly<Record<string, string>> = {
    'creates.requireIdempotencyKey': 'a flag',
    'exolix.keyInQuery': 'a flag',
    'providers.<name>.native': 'paths',
    'providers.<name>.url': 'takes no credentials',
    'server.trustProxy': 'a number',
    'telemetry.endpoint': 'takes no credentials',
    'telemetry.tracesEndpoint': 'takes no credentials',
  }

  it('is marked in the schema if its name or its meaning is that of a secret', () => {
    const unmarked = rows.filter(
      ({ key, meaning }) => (soundsSecret.test(key) || meansSecret.test(meaning)) && !meaning.startsWith('**Secret'),
    )
    expect(unmarked.map(({ key }) => key).filter((key) => !Object.hasOwn(open, key))).toEqual([])
  })

  it('is called secret on the page if it is marked', () => {
    const called = rows.filter(({ meaning }) => meaning.startsWith('**Secret')).map(({ key }) => key)
    const marked = secretPlaces.map(({ path }) => path.join('.').replaceAll('*', '<name>'))
    expect(called.filter((key) => !marked.some((place) => place === key || place.startsWith(`${key}.`)))).toEqual([])
    expect(marked.filter((place) => !called.some((key) => place === key || place.startsWith(`${key}.`)))).toEqual([])
  })

  it.each([
    ['server', { cors: ['https://user:canary@app.example'] }],
    ['telemetry', { endpoint: 'http://user:canary@collector:4318' }],
    ['telemetry', { endpoint: 'http://collector:4318?key=canary' }],
    ['telemetry', { tracesEndpoint: 'http://user:canary@collector:4318' }],
    ['webhooks', { allow: ['http://user:canary@host'] }],
    ['providers', { alpha: { form: 'A', url: 'https://user:canary@alpha.example' } }],
    ['providers', { alpha: { form: 'A', url: 'https://alpha.example?key=canary' } }],
  ])('of %s without a mark takes no URL with credentials, and no fault has them: %j', (section, keys) => {
    const providers = { alpha: { form: 'A', url: 'https://alpha.example' } }
    let message = 'taken'
    try {
      read({ providers, routing: { providers: ['alpha'] }, [section]: keys })
    } catch (reason) {
      message = String(reason)
    }
    expect(message).toMatch(new RegExp(`${section}\\..*must`))
    expect(message).not.toContain('canary')
  })
})

describe('of a URL', () => {
  it.each([
    ['redis.url', 'redis://:canary@r', true],
    ['redis.url', 'redis+sentinel://a/name?sentinel=user:canary', true],
    ['redis.url', 'redis://r:6379/1', false],
    ['ledger.url', 'postgres://db/x?password=canary', true],
    ['ledger.url', 'sqlite:data/swapgate.db', false],
    ['egress.proxy', 'http://user:canary@proxy:3128', true],
    ['egress.proxy', 'environment', false],
    ['providers.alpha.proxy', 'http://proxy:3128', false],
  ])('%s %s is secret: %s', (key, url, isSecret) => {
    expect(isSecretAt(key.split('.'), url)).toBe(isSecret)
  })
})

describe('what no text of a provider may bring to a client', () => {
  const { alpha, gamma } = secretSettings('canary').providers as Record<string, object>

  it('is its keys and its passwords, and not what was agreed with it', () => {
    expect(keysIn(alpha, ['providers', 'alpha'])).toEqual([
      'canary-key',
      'canary-listKey',
      `${'canary'.padEnd(44, '0')}-hook`,
      'canary-proxy',
    ])
    expect(keysIn(gamma, ['providers', 'gamma'])).toEqual(['canary-gamma', 'canary-secret'])
  })

  it('is no empty word, and a password as it was before it was encoded', () => {
    expect(keysIn({ key: '', proxy: '', listKey: '' }, ['providers', 'alpha'])).toEqual([])
    expect(keysIn({ proxy: 'http://user:a%2Fb@proxy' }, ['providers', 'alpha'])).toEqual(['a/b'])
  })
})
