// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written so
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configurationDocs } from '../../scripts/configuration-docs.ts'
import { configurationSchema } from '../../scripts/configuration-schema.ts'

it('docs/configuration.md matches the schema (npm run docs:configuration writes it)', () => {
  expect(readFileSync('docs/configuration.md', 'utf8')).toBe(configurationDocs())
})

describe('the schema for editors', () => {
  const schema = JSON.parse(readFileSync('config/gateway.schema.json', 'utf8'))
  const validate = new Ajv({ allErrors: true }).compile(schema)
  const alpha = { form: 'A', url: 'http://127.0.0.1:1/a' }
  const whole = { providers: { alpha }, routing: { providers: ['alpha'] } }
  /** Where a file with these sections besides has faults. */
  const faultsOf = (sections: object): readonly string[] => {
    validate({ ...whole, ...sections })
    return [...new Set((validate.errors ?? []).map(({ instancePath }) => instancePath))]
  }

  it('is that of the configuration (npm run docs:configuration writes it)', () => {
    expect(readFileSync('config/gateway.schema.json', 'utf8')).toBe(configurationSchema())
  })

  it.each(['config/gateway.yaml', 'deploy/gateway.yaml', 'deploy/kubernetes/gateway.yaml'])(
    'is named by %s, which it takes',
    (file) => {
      const text = readFileSync(file, 'utf8')
      const [, path = ''] = /^# yaml-language-server: \$schema=(.*)\n/.exec(text) ?? []
      expect(join(dirname(file), path)).toBe('config/gateway.schema.json')
      validate(parse(text))
      expect(validate.errors).toBeNull()
    },
  )

  it.each([
    ['numbers, also as text', { server: { port: 8080, drain: 1.5 }, limits: { quotes: '60' } }],
    [
      'references',
      { server: { port: '${PORT:-80}' }, auth: { mode: '${MODE}' }, docs: '${DOCS}', redis: { prefix: '${file:prefix}' } },
    ],
    ['words that YAML reads as others', { providers: { alpha: { ...alpha, extraIds: true, key: 12345, sandbox: 'false' } } }],
    [
      'one of several shapes',
      {
        server: { workers: 'auto' },
        providers: { alpha: { ...alpha, assets: { BTC: null, LTC: 'ltc', ETH: { coin: 'ETH', network: 'ETH' } } } },
      },
    ],
    [
      'a secret from a file',
      { providers: { alpha: { ...alpha, key: '${file:/run/secrets/alpha}' } }, admin: { tokens: { anna: '${ANNA}' } } },
    ],
    ['a token with roles', { admin: { tokens: { ben: { token: '${BEN}', roles: ['read', '${ROLE}'] } } } }],
  ])('takes %s', (_, sections) => {
    expect(faultsOf(sections)).toEqual([])
  })

  it.each([
    ['a key that is misspelt', { server: { prot: 1 } }, '/server'],
    ['a number out of its range', { server: { port: 65_536 } }, '/server/port'],
    ['a fraction of an integer', { limits: { quotes: 1.5 } }, '/limits/quotes'],
    ['a unit', { server: { drain: '5s' } }, '/server/drain'],
    ['another word', { auth: { mode: 'none' } }, '/auth/mode'],
    ['a list for a text', { providers: { alpha: { ...alpha, key: [] } } }, '/providers/alpha/key'],
    ['a role that is none', { admin: { tokens: { ben: { token: '${BEN}', roles: ['admin'] } } } }, '/admin/tokens/ben/roles/0'],
    ['a provider without a form', { providers: { alpha: { url: alpha.url } } }, '/providers/alpha'],
  ])('marks %s', (_, sections, place) => {
    expect(faultsOf(sections)).toContain(place)
  })

  it('says of each secret that nobody can read it', () => {
    const { admin, providers, redis } = schema.properties
    const { key, hook, settings, tag } = providers.additionalProperties.properties
    const [whole, withRoles] = admin.properties.tokens.additionalProperties.anyOf
    const secrets = [key, hook, settings.additionalProperties, whole, withRoles.properties.token]
    expect(secrets.map(({ writeOnly }) => writeOnly)).toEqual(secrets.map(() => true))
    expect([tag.writeOnly, redis.properties.url.writeOnly]).toEqual([undefined, undefined])
  })

  it('has the words of docs/configuration.md', () => {
    const { server, limits } = schema.properties
    expect(server.properties.trustProxy).toMatchObject({
      description: 'Trusted proxies in front that append to `X-Forwarded-For`; 0 ignores the header (hops)',
      default: 0,
    })
    expect(limits.description).toBe('Limits on clients; past one it is 429 (limits.md).')
    expect(JSON.stringify(schema)).not.toMatch(/\]\(|defaultValue|"unit"|"number":|"secret":"/)
  })
})
