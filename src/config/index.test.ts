// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written so
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatNames } from '../domain/address/formats.ts'
import { knownForms } from '../forms/index.ts'
import { ConfigError, type ConfigFault, formatFault, loadConfig } from './index.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'swapgate-config-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const assets = '- { coin: BTC, name: Bitcoin, networks: [ { network: BTC, code: BTC } ] }'
const alpha = 'alpha: { form: A, url: "http://127.0.0.1:9101/a/api/v2" }'
const beta = 'beta: { form: B, url: "http://127.0.0.1:9101/b/api/v2" }'
const routing = 'routing: { providers: [alpha] }'
const formNames = knownForms.providerForms.map(({ name }) => name).join(', ')
const whole = `providers: { ${alpha} }\n${routing}\n`

interface Files {
  readonly gateway?: string
  readonly assets?: string
  readonly environment?: Readonly<Record<string, string>>
}

function load({ gateway = whole, assets: table = assets, environment = {} }: Files) {
  writeFileSync(join(folder, 'gateway.yaml'), gateway)
  writeFileSync(join(folder, 'assets.yaml'), table)
  return loadConfig(join(folder, 'gateway.yaml'), knownForms, environment)
}

/** Each fault as one line, without its place. */
function faultsOf(files: Files): readonly string[] {
  return refusalOf(files).map(({ path, message }) => `${path}: ${message}`)
}

/** The same, as they are printed. */
function linesOf(files: Files): readonly string[] {
  return refusalOf(files).map(formatFault)
}

function refusalOf(files: Files): readonly ConfigFault[] {
  try {
    load(files)
  } catch (reason) {
    if (reason instanceof ConfigError) return reason.faults
    throw reason
  }
  return []
}

/** A provider alpha with these keys besides its form and URL. */
function withProvider(keys: string): string {
  return `providers: { alpha: { form: A, url: "http://127.0.0.1:9101/a/api/v2", ${keys} } }\n${routing}`
}

describe('a valid configuration', () => {
  it('has tokens of operators as they are written, bare or with roles; one token may have two names', () => {
    const tokens = `{ ann: ${operatorToken}, bob: ${operatorToken}, cid: { token: x${operatorToken}, roles: [money, read, read] } }`
    expect(load({ gateway: `admin: { tokens: ${tokens} }\n${whole}` }).admin.tokens).toEqual({
      ...{ ann: operatorToken, bob: operatorToken },
      cid: { token: `x${operatorToken}`, roles: ['money', 'read', 'read'] },
    })
  })

  it.each(['rediss://user:word@host:1/2', 'redis+sentinel://:word@a:1,b/name/2?sentinel=user:word', 'redis+cluster://a,b:1'])(
    'takes %s for a Redis',
    (url) => {
      expect(load({ gateway: `${whole}redis: { url: "${url}" }` }).redis.url).toBe(url)
    },
  )

  it.each([
    ['Exolix', 'exolix'],
    ['a', 'A'],
  ])('the form %s of a provider is %s', (form, name) => {
    const gateway = `providers: { alpha: { form: ${form}, key: own-key, url: "http://127.0.0.1:1/a" } }\nrouting: { providers: [alpha] }\n`
    expect(load({ gateway }).providers[0]?.form).toBe(name)
  })

  it('has a default for every key but the providers and their order', () => {
    const config = load({})
    expect(config.server).toEqual({
      host: '127.0.0.1',
      port: 8080,
      workers: 1,
      trustProxy: 0,
      maxBodyBytes: 16_384,
      connections: 10_000,
      socketTimeout: 75,
      keepAliveTimeout: 66,
      drain: 10,
      shutdownDelay: 2,
      cors: [],
    })
    expect(config.admin).toEqual({ host: '127.0.0.1', port: 9090, tokens: {}, keepSession: false, hosts: [] })
    expect(config.limits).toEqual({ quotes: 60, create: 30, read: 120, streams: 20, unverified: 120, window: 60, dryRun: false })
    expect(config.replicas).toBe(1)
    expect(config.cache).toEqual({ currencies: 600, rate: 2, staleFor: 86_400 })
    expect(config.sandbox.enabled).toBe(false)
    expect(config.providers[0]).toMatchObject({
      name: 'alpha',
      tag: 'alpha',
      timeout: 10,
      rateLimit: { quotes: 60, create: 30, read: 120 },
      breaker: { consecutiveFailures: 5, baseEjectionTime: 30, maxEjectionTime: 300 },
      bulkhead: { maxConcurrentCalls: 128, maxPendingCalls: 4_096, maxWaitDuration: 1 },
    })
  })

  it('cannot be changed', () => {
    expect(Object.isFrozen(load({}).providers[0]?.rateLimit)).toBe(true)
  })

  it('keeps the amounts of the asset table as they are written', () => {
    const networks = '[ { network: BTC, code: BTC, depositMin: 0.00010000000000000001, depositMax: 1e3 } ]'
    const { assets: table } = load({ assets: `- { coin: BTC, name: Bitcoin, networks: ${networks} }` })
    expect(table.byCode('btc')).toMatchObject({ depositMin: '0.00010000000000000001', depositMax: '1e3' })
  })

  it('has the own chain of a coin and the decimal places of an asset, if the table has them', () => {
    const networks = '[ { network: ETH, code: ETH, default: true, home: true, decimals: 18 }, { network: BASE, code: ETHBASE } ]'
    const { assets: table } = load({ assets: `- { coin: ETH, name: Ethereum, networks: ${networks} }` })
    expect(table.byCode('ETH')).toMatchObject({ isHome: true, decimals: 18 })
    expect(table.byCode('ETHBASE')).not.toHaveProperty('isHome')
    expect(table.byCode('ETHBASE')).not.toHaveProperty('decimals')
  })

  it('parses an asset table again only if it has changed or has references', () => {
    const named = (name: string): string => `- { coin: BTC, name: "${name}", networks: [ { network: BTC, code: BTC } ] }`
    const { assets: first } = load({ assets: named('Bitcoin') })
    expect(load({ assets: named('Bitcoin') }).assets).toBe(first)
    expect(load({ assets: named('Gold') }).assets.coin('BTC')?.name).toBe('Gold')
    for (const name of ['One', 'Two'])
      expect(load({ assets: named('${NAME}'), environment: { NAME: name } }).assets.coin('BTC')?.name).toBe(name)
  })

  it('reads files relative to itself, not to the working directory', () => {
    mkdirSync(join(folder, 'secrets'), { recursive: true })
    writeFileSync(join(folder, 'secrets', 'alpha'), 'the-key\n')
    expect(load({ gateway: withProvider('key: "${file:secrets/alpha}"') }).providers[0]?.key).toBe('the-key')
  })

  it('can give a provider a tag', () => {
    const gateway = `providers: { swap-house: { form: A, url: "https://swap.example/api/v2", tag: sh1 } }\nrouting: { providers: [swap-house] }`
    expect(load({ gateway }).providers[0]).toMatchObject({ name: 'swap-house', tag: 'sh1' })
  })

  it('takes XRP, XLM and what the form names as shared, unless the file has a list of its own, also an empty one', () => {
    const stealthex = (keys: string) =>
      `providers: { alpha: { form: StealthEX, url: "https://swap.example", key: k${keys} } }\n${routing}`
    const networksOf = (keys: string) => load({ gateway: stealthex(keys) }).providers[0]?.depositMemo.networks
    expect(networksOf('')).toEqual(['XRP', 'XLM'])
    expect(networksOf(', depositMemo: [XRP, TON]')).toEqual(['XRP', 'TON'])
    expect(networksOf(', depositMemo: []')).toEqual([])
  })

  it.each(['postgres:///swapgate', 'postgres://user:p%2Fw%40d@db:5432/swapgate?sslmode=require', 'postgresql://db'])(
    'takes %s for a ledger',
    (url) => {
      expect(load({ gateway: `${whole}ledger: { url: "${url}" }` }).ledger.url).toBe(url)
    },
  )

  it('H50: has a key of a provider that a header can carry', () => {
    expect(faultsOf({ gateway: withProvider('key: "a key: of~ASCII"') })).toEqual([])
    const fault = 'providers.alpha.key: must be one line of visible characters of ASCII: no header can carry another'
    for (const key of ['one\\nX-Evil: 1', '\\ttab', 'null\\0', 'k\u00e9y', ' space', 'space '])
      expect(faultsOf({ gateway: withProvider(`key: "${key}"`) }), key).toEqual([fault])
  })

  it('may send a key over plain http to a loopback address only', () => {
    expect(faultsOf({ gateway: withProvider('key: k') })).toEqual([])
  })
})

it('the packaged configuration is valid', () => {
  expect(loadConfig('config/gateway.yaml', knownForms, {}).routing.providers).toEqual(['alpha'])
})

describe('the variables of OpenTelemetry', () => {
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_TRACES_SAMPLER_ARG: '0.5',
    OTEL_SDK_DISABLED: '',
  }

  it.each(['', 'telemetry:\n', 'telemetry: { batch: 8 }'])('set the keys that the file does not set (%s)', (section) => {
    const { telemetry } = load({ gateway: whole + section, environment })
    expect(telemetry).toMatchObject({ endpoint: 'http://collector:4318', ratio: 0.5, disabled: false })
  })

  it('do not override the file', () => {
    const gateway = `${whole}telemetry: { endpoint: "", ratio: 0.1 }`
    expect(load({ gateway, environment }).telemetry).toMatchObject({ endpoint: '', ratio: 0.1 })
  })

  it('of which none stops the start: one that cannot be used is a warning with its own name, and without its value', () => {
    const { telemetry, warnings } = load({ environment: { OTEL_TRACES_SAMPLER_ARG: '2', OTEL_BSP_MAX_QUEUE_SIZE: '9' } })
    expect(telemetry).toMatchObject({ ratio: 0.01, queue: 9 })
    expect(warnings).toEqual(['OTEL_TRACES_SAMPLER_ARG of the environment is ignored: it must be a number from 0 to 1'])
  })

  it('of which neither endpoint counts where the file names one', () => {
    const both = { ...environment, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/x' }
    expect(load({ environment: both }).telemetry).toMatchObject({ tracesEndpoint: 'http://traces:4318/x' })
    const gateway = `${whole}telemetry: { endpoint: "" }`
    expect(load({ gateway, environment: both }).telemetry).toMatchObject({ endpoint: '', tracesEndpoint: '' })
  })

  it('leave a wrong section of the file its fault', () => {
    expect(faultsOf({ gateway: `${whole}telemetry: [1]`, environment })).toEqual([expect.stringMatching(/^telemetry: /)])
  })
})

describe('a proxy on the way to providers', () => {
  const remote = (keys = '') => `providers: { alpha: { form: A, url: "https://p.example/api/v2" ${keys} } }\n${routing}\n`
  const environment = { HTTPS_PROXY: 'http://user:canary@proxy:3128' }
  const proxyIn = (gateway: string, given: Files['environment'] = environment) =>
    load({ gateway, ...(given && { environment: given }) }).providers[0]?.proxy

  it('in the environment alone is not used, and the start says what to set', () => {
    const { providers, warnings } = load({ gateway: remote(), environment })
    expect(providers[0]?.proxy).toBe('')
    expect(warnings).toEqual([expect.stringMatching(/^HTTPS_PROXY of the environment is ignored: .*egress\.proxy: environment/)])
    expect(warnings.join()).not.toContain('canary')
    expect(load({ gateway: `${remote()}egress: { proxy: direct }`, environment }).warnings).toEqual([])
  })

  it('is that of the environment, of egress, or the own one of a provider', () => {
    expect(proxyIn(`${remote()}egress: { proxy: environment }`)).toBe(environment.HTTPS_PROXY)
    expect(proxyIn(`${remote()}egress: { proxy: "https://secure:3129" }`)).toBe('https://secure:3129')
    expect(proxyIn(`${remote(', proxy: "http://own:1"')}egress: { proxy: environment }`)).toBe('http://own:1')
    expect(proxyIn(`${remote(', proxy: direct')}egress: { proxy: environment }`)).toBe('')
    expect(proxyIn(remote(', proxy: "http://user:${PASSWORD}@own:1"'), { PASSWORD: 'from%40environment' })).toBe(
      'http://user:from%40environment@own:1',
    )
  })

  it.each([
    'socks5://proxy:1080',
    'proxy:3128',
    'http://proxy:3128/path',
    'http://u:a/b@proxy:3128',
    'http://u:p%zz@proxy:3128',
    'maybe',
  ])('%s is a fault, without its value', (value) => {
    const faults = faultsOf({ gateway: `${remote()}egress: { proxy: "${value}" }` })
    expect(faults).toEqual([expect.stringMatching(/^egress\.proxy: must be direct, environment or http:/)])
  })

  it('of the environment that cannot be used is a fault where the file asks for it', () => {
    const wrong = { HTTPS_PROXY: 'socks5://canary:1080' }
    expect(faultsOf({ gateway: `${remote()}egress: { proxy: environment }`, environment: wrong })).toEqual([
      expect.stringMatching(/^egress\.proxy: HTTPS_PROXY of the environment must be/),
    ])
    expect(faultsOf({ gateway: remote(', proxy: environment'), environment: wrong })).toHaveLength(1)
    expect(faultsOf({ gateway: remote(), environment: wrong })).toEqual([])
  })
})

describe('a file', () => {
  it('that does not exist is the only fault', () => {
    const file = join(folder, 'missing.yaml')
    expect(() => loadConfig(file, knownForms, {})).toThrow(`the file ${file} cannot be read (ENOENT)`)
  })

  it.each([
    ['is empty', '', ': the file must be a mapping'],
    ['is only a comment', '# nothing', ': the file must be a mapping'],
    ['is a list', '- a', ': the file must be a mapping'],
    ['is a text', 'hello', ': the file must be a mapping'],
    ['is not YAML', 'server: [', 'server: is not YAML: bad indent'],
    ['has very many open brackets', `# one\nserver: ${'['.repeat(201)}`, ': more than 200 brackets are open'],
    ['has some open brackets', `server: ${'['.repeat(200)}`, 'server: is not YAML: bad indent'],
  ])('that %s is the only fault', (_, gateway, fault) => {
    expect(faultsOf({ gateway })).toContain(fault)
  })

  it.each([
    ['is not YAML', 'a: [', 'assets.a: is not YAML: bad indent'],
    ['is not a list', 'coin: BTC', 'assets: must be a list'],
    ['is empty', '', 'assets: must be a list'],
  ])('of assets that %s is a fault of assets', (_, table, fault) => {
    expect(faultsOf({ assets: table })).toEqual([fault])
  })

  it('of assets that cannot be read is a fault of assets', () => {
    const fault = `assets: the file ${join(folder, 'other.yaml')} cannot be read (ENOENT)`
    expect(faultsOf({ gateway: `${whole}assets: other.yaml` })).toEqual([fault])
  })
})

describe('the asset table of a newer version', () => {
  it('is read, with one warning for each member that is not known', () => {
    const table = `
- { coin: BTC, name: Bitcoin, colour: orange, networks: [{ network: BTC, code: BTC, minConfirmations: 2, halves: [{ a: 1 }] }] }
- { coin: ETH, name: Ether, networks: [{ network: ETH, code: ETH, minConfirmations: 12 }] }`
    const { assets, warnings } = load({ gateway: whole, assets: table })
    expect(assets.coins.map(({ coin }) => coin)).toEqual(['BTC', 'ETH'])
    expect(warnings.filter((line) => line.startsWith('assets: '))).toEqual([
      'assets: a row of the table has colour, which this version does not know: it is ignored',
      'assets: 2 rows of the table have networks.minConfirmations, which this version does not know: it is ignored',
      'assets: a row of the table has networks.halves, which this version does not know: it is ignored',
    ])
  })
})

const operatorToken = 'operator-token-0123456789-0123456789'

describe('a fault', () => {
  it.each([
    ['server: { port: 80a }', 'server.port: must be an integer from 0 to 65535'],
    ['server: { port: 65536 }', 'server.port: must be an integer from 0 to 65535'],
    ['server: { port: -1 }', 'server.port: must be an integer from 0 to 65535'],
    ['server: { port: 0x50 }', 'server.port: must be an integer from 0 to 65535'],
    ['server: { port: }', 'server.port: must be an integer from 0 to 65535'],
    ['server: { port: [1] }', 'server.port: must be an integer from 0 to 65535'],
    ['server: { host: "" }', 'server.host: must not be empty'],
    [
      `telemetry: { accounts: [${Array.from({ length: 101 }, (_, n) => `a${n}`)}] }`,
      'telemetry.accounts: must name at most 100 accounts',
    ],
    ["telemetry: { accounts: [''] }", 'telemetry.accounts.0: must not be empty'],
    ['telemetry: { accounts: acme }', 'telemetry.accounts: must be a list'],
    ['server: { drain: 5s }', 'server.drain: must be a number of seconds from 0, at most 604800'],
    ['server: { shutdownDelay: -1 }', 'server.shutdownDelay: must be a number of seconds from 0, at most 604800'],
    ['server: { prot: 80 }', 'server.prot: is not a key of the configuration'],
    ['server: 8080', 'server: must be a mapping'],
    ['server:', 'server: must be a mapping'],
    ['server: { cors: "*" }', 'server.cors: must be a list'],
    ...[
      'app.example',
      'https://app.example/',
      'https://APP.example',
      'https://app.example:443',
      "'*'",
      "'null'",
      'https://*.com',
      'https://a.*.com',
      'capacitor://*.localhost',
      'file:///a',
      'app://a/b',
    ].map((origin) => [
      `server: { cors: [${origin}] }`,
      'server.cors.0: must be an origin like https://app.example, https://*.example.com or capacitor://localhost',
    ]),
    ['sevrer: {}', 'sevrer: is not a key of the configuration'],
    ['admin: { port: 8080 }', 'admin.port: is the port of server'],
    ...(
      [
        ['short', ': must be 32 to 512 visible characters of ASCII'],
        ['[]', ': must be a mapping'],
        [`{ token: ${operatorToken} }`, '.roles: is missing'],
        [`{ token: ${operatorToken}, roles: read }`, '.roles: must be a list'],
        [`{ token: ${operatorToken}, roles: [] }`, '.roles: must name at least one of read, operate, money'],
        [`{ token: ${operatorToken}, roles: [read, admin] }`, '.roles.1: must be one of read, operate, money'],
        [`{ token: ${operatorToken}, role: read, roles: [read] }`, '.role: is not a key of the configuration'],
        ['{ token: short, roles: [read] }', '.token: must be 32 to 512 visible characters of ASCII'],
        ['{ roles: [read] }', '.token: is missing'],
        [
          `{ token: ${operatorToken}, roles: [read] }, ann: ${operatorToken}`,
          'ann: is the token of another name, with other roles',
        ],
      ] as const
    ).map(([token, fault]) => [
      `admin: { tokens: { bob: ${token} } }`,
      `admin.tokens.${fault.startsWith('ann') ? '' : 'bob'}${fault}`,
    ]),
    ['server: { port: 9101 }', 'providers.alpha.url: leads back to the gateway itself'],
    ['admin: { port: 9101 }', 'providers.alpha.url: leads back to the gateway itself'],
    ['sandbox: { enabled: true, port: 8080 }', 'sandbox.port: is the port of server'],
    ['sandbox: { enabled: yes }', 'sandbox.enabled: must be true or false'],
    ['defaultForm: C', 'defaultForm: must be one of A, B, exolix'],
    ['limits: { quotes: 0 }', 'limits.quotes: must be an integer from 1'],
    ['limits: { window: 1.5 }', 'limits.window: must be an integer from 1 to 86400'],
    ['auth: { mode: none }', 'auth.mode: must be one of passthrough, managed'],
    ['auth: { mode: managed }', 'providers.alpha.key: is needed where auth.mode is managed'],
    ...[
      'http://r',
      'redis://',
      'redis://a,b',
      'redis://a/b',
      'redis+sentinel://a,b',
      'redis+cluster://a/0',
      'redis://a?sentinel=:b',
    ].map((url) => [
      `redis: { url: "${url}" }`,
      'redis.url: must be redis://host, redis+sentinel://host,host/name or redis+cluster://host,host',
    ]),
    ['ledger: { url: mysql://db }', 'ledger.url: must be sqlite:<file> or postgres://…'],
    ['ledger: { url: "sqlite:" }', 'ledger.url: must be sqlite:<file> or postgres://…'],
    ['ledger: { url: "" }', 'ledger.url: must be sqlite:<file> or postgres://…'],
    ['assets: ""', 'assets: must not be empty'],
    ['log: { __proto__: { level: error } }', 'log.<9 characters>: __proto__ is a name that nothing may have'],
  ])('in a section: %s', (section, fault) => {
    expect(faultsOf({ gateway: `${whole}${section}` })).toEqual([fault])
  })

  it('is a provider without a key in passthrough mode, where the quotes of its form need one', () => {
    const gateway = (form: string) =>
      `providers: { alpha: { form: ${form}, url: https://a.test } }\nrouting: { providers: [alpha] }`
    const fault = "providers.alpha.key: is needed: quotes of the form exolix need one of the gateway's own"
    expect(faultsOf({ gateway: gateway('exolix') })).toEqual([fault])
    expect(faultsOf({ gateway: gateway('A') })).toEqual([])
  })

  it.each([
    ['timeout: 0', 'timeout: must be a number of seconds above 0, at most 604800'],
    ['rateLimit: { quotes: -1 }', 'rateLimit.quotes: must be an integer from 0'],
    ['tag: Alpha', 'tag: must be 1 to 16 of a-z and 0-9, and so must a name that has no tag'],
    ['tag: abcdefghijklmnopq', 'tag: must be 1 to 16 of a-z and 0-9, and so must a name that has no tag'],
    [
      'statuses: { hold: paused }',
      `statuses.hold: must be one of wait, confirmation, confirmed, exchanging, sending, success, overdue, refunded, failed, held`,
    ],
    ['statuses: { wait: success, sending: sending }', 'statuses.wait: cannot be changed: the form A defines it'],
    ['assets: { DOGE: xdg }', 'assets.DOGE: is not a code of the asset table'],
    ['assets: { BTC: { coin: BTC, network: BTC } }', 'assets.BTC: must be one word'],
    ['assets: { BTC: [xbt] }', 'assets.BTC: must be a word, { coin, network }, { contract } or null'],
    ['assets: { BTC: xbt, btc: xbt2 }', 'assets.btc: is given twice'],
    ['extraIds: maybe', 'extraIds: must be one of true, false, unconfirmed'],
    ['addresses: maybe', 'addresses: must be one of checked, unchecked'],
    ['depositMemo: XRP', 'depositMemo: must be a list'],
    ['extraIdNames: { deposit: [a] }', 'extraIdNames.deposit: must be a text'],
    ['extraIdNames: { payout: memo }', 'extraIdNames.payout: is not a key of the configuration'],
    ['extraIdNames: { withdrawal: { send: memo } }', 'extraIdNames.withdrawal.send: is not a key of the configuration'],
    ['native: true', 'native: must be a list'],
    ['native: [[GET]]', 'native.0: must be a text'],
    ['native: [GET /a, "GET /a/"]', 'native.1: must be a method and a path, like GET /coins/{}/networks'],
    ['native: [OPTIONS /a]', 'native.0: must be a method and a path, like GET /coins/{}/networks'],
    ['native: [GET /a, GET /a]', 'native.1: is given twice'],
    ['native: [GET /rate]', 'native.0: overlaps an operation of the form'],
    ['native: [HEAD /Currencies]', 'native.0: overlaps an operation of the form'],
    ['native: ["GET /{}"]', 'native.0: overlaps an operation of the form'],
    ['native: ["GET /transactions/{}"]', 'native.0: overlaps an operation of the form'],
    ['native: [POST /transactions]', 'native.0: overlaps an operation of the form'],
    ['nativeMaxBytes: -1', 'nativeMaxBytes: must be an integer from 0 to 1073741824'],
    ['nativeIdle: 0', 'nativeIdle: must be a number of seconds above 0, at most 604800'],
    ['state: paused', 'state: must be one of active, draining, off'],
    ['retries: 3', 'retries: is not a key of the configuration'],
  ])('in a provider: %s', (key, fault) => {
    expect(faultsOf({ gateway: withProvider(key) })).toEqual([`providers.alpha.${fault}`])
  })

  it('the settings of an account have no effect in passthrough mode', () => {
    const facts = 'form: stealthex, url: "https://swap.example", key: k, accountSettings: { acme: { additional_fee_percent: 1 } }'
    const gateway = `auth: { mode: passthrough }\nproviders: { alpha: { ${facts} } }\n${routing}`
    expect(faultsOf({ gateway })).toEqual([
      'providers.alpha.accountSettings.acme: has no effect in passthrough mode: only keys that you issue have accounts',
    ])
  })

  it.each([
    ['letsexchange', '', 'settings.affiliateId: is needed for the form letsexchange'],
    ['letsexchange', 'settings: { affiliateId: "${NOTHING:-}" }', 'settings.affiliateId: is needed for the form letsexchange'],
    ['letsexchange', 'settings: { affiliateId: a, email: b }', 'settings.email: is not a setting of the form letsexchange'],
    ['changenow', 'settings: { userId: a }', 'settings.userId: cannot be set: it is the reference of each create, its own'],
    ['letsexchange', 'settings: { affiliateId: a, promocode: "${NOTHING:-}" }', undefined],
    ['letsexchange', 'settings: { affiliateId: a, promocode: "a\\nb" }', 'settings.promocode: must be one line'],
    ['stealthex', 'settings: { additional_fee_percent: 0.5 }', undefined],
    ['stealthex', 'settings: { additional_fee_percent: 5e-1 }', 'settings.<22 characters>: must be a number from 0, like 0.5'],
    ['stealthex', 'settings: { additional_fee_percent: -1 }', 'settings.<22 characters>: must be a number from 0, like 0.5'],
    ['changenow', 'settings: { payload: app }', 'settings.payload: must be a JSON object of texts, as text: \'{"channel":"app"}\''],
    [
      'changenow',
      'settings: { payload: \'{"a":1}\' }',
      'settings.payload: must be a JSON object of texts, as text: \'{"channel":"app"}\'',
    ],
    ['changenow', 'settings: { payload: \'{"a":"b"}\' }', undefined],
    ['letsexchange', 'settings: { affiliateId: a }, accountSettings: { acme: { affiliateId: b, promocode: "" } }', undefined],
    [
      'letsexchange',
      'settings: { affiliateId: a }, accountSettings: { acme: { affiliateId: "" } }',
      'accountSettings.acme.affiliateId: is needed for the form letsexchange',
    ],
    ['stealthex', 'accountSettings: { acme: { fee: 1 } }', 'accountSettings.acme.fee: is not a setting of the form stealthex'],
    [
      'changenow',
      'accountSettings: { acme: { userId: a } }',
      'accountSettings.acme.userId: cannot be set: it is the reference of each create, its own',
    ],
    [
      'sideshift',
      'settings: { affiliateId: a, externalId: b }, forwardAddress: true',
      'settings.externalId: cannot be set: it is the reference of each create, its own',
    ],
    [
      'changenow',
      'extraIdNames: { withdrawal: { request: userId } }',
      'extraIdNames.withdrawal: is already the name of another field',
    ],
    ['stealthex', 'extraIdNames: { deposit: address }', 'extraIdNames.deposit: is already the name of another field'],
    ['stealthex', 'extraIdNames: { deposit: status, withdrawal: { response: extra_id } }', undefined],
  ])('of the form %s: %s', (form, key, fault) => {
    const facts = [`form: ${form}`, 'url: "https://swap.example"', 'key: key-at-the-provider', ...(key ? [key] : [])]
    const gateway = `auth: { mode: managed }\nproviders: { alpha: { ${facts.join(', ')} } }\n${routing}`
    expect(faultsOf({ gateway })).toEqual(fault === undefined ? [] : [`providers.alpha.${fault}`])
  })

  describe('two assets with the same name at one provider', () => {
    const tether = `
- { coin: BTC, name: Bitcoin, networks: [ { network: BTC, code: BTC } ] }
- coin: USDT
  name: Tether
  networks:
    - { network: TRX, code: USDTTRC20, default: true, aliases: [TRC20] }
    - { network: ETH, code: USDTERC20, aliases: [ERC20] }`
    const wordsFaults = (form: string, words: string): readonly string[] =>
      faultsOf({
        assets: tether,
        gateway: `providers: { alpha: { form: ${form}, url: "https://swap.example", assets: ${words} } }\n${routing}`,
      })
    const taken = (code: string): string => `providers.alpha.assets.${code}: is already the name of another code`

    it.each([
      ['A', '{ USDTTRC20: USDTERC20 }', 'USDTTRC20'],
      ['A', '{ USDTTRC20: usdterc20 }', 'USDTTRC20'],
      ['A', '{ usdtTrc20: btc }', 'usdtTrc20'],
      ['A', '{ USDTTRC20: usdt, USDTERC20: USDT }', 'USDTERC20'],
      ['B', '{ USDTTRC20: { coin: USDT, network: ETH } }', 'USDTTRC20'],
      ['B', '{ USDTTRC20: { network: eth, coin: usdt } }', 'USDTTRC20'],
      ['B', '{ USDTTRC20: { coin: USDT, network: erc20 } }', 'USDTTRC20'],
      ['B', '{ USDTTRC20: { coin: BTC, network: BTC } }', 'USDTTRC20'],
      ['B', '{ BTC: { coin: X, network: Y }, USDTTRC20: { coin: x, network: y } }', 'USDTTRC20'],
    ])('are a fault in form %s: %s', (form, words, code) => {
      expect(wordsFaults(form, words)).toEqual([taken(code)])
    })

    it.each([
      ['A', '{ USDTTRC20: USDTERC20, USDTERC20: null }'],
      ['A', '{ USDTTRC20: USDTERC20, USDTERC20: USDTTRC20 }'],
      ['A', '{ USDTTRC20: USDTTRC20, BTC: null, USDTERC20: null }'],
      ['B', '{ USDTTRC20: { coin: USDT, network: ERC20 }, USDTERC20: null }'],
      ['B', '{ USDTTRC20: { coin: USDT, network: ETH }, USDTERC20: { coin: USDT, network: TRX } }'],
      ['B', '{ BTC: { coin: A B, network: C }, USDTTRC20: { coin: A, network: B C } }'],
    ])('are no fault in form %s if the names differ: %s', (form, words) => {
      expect(wordsFaults(form, words)).toEqual([])
    })
  })

  it.each([
    ['two of them in a question', '{ withdrawal: memo, refund: { request: memo } }', ['withdrawal', 'refund']],
    ['two of them in an answer', '{ deposit: memo, withdrawal: { response: memo } }', ['deposit', 'withdrawal']],
    ["the form's word for another", '{ deposit: withdrawalExtraId }', ['deposit']],
    ['a word of the form in a question', '{ withdrawal: { request: amount } }', ['withdrawal']],
    ['a word of the form in an answer', '{ refund: { response: updatedAt } }', ['refund']],
  ])('in extra id names: the same name twice: %s', (_, names, keys) => {
    expect(faultsOf({ gateway: withProvider(`extraIdNames: ${names}`) })).toEqual(
      keys.map((key) => `providers.alpha.extraIdNames.${key}: is already the name of another field`),
    )
  })

  it.each([
    '{ deposit: payinExtraId, withdrawal: { request: extraId, response: payoutExtraId }, refund: refundId }',
    '{ deposit: extraId, withdrawal: { request: extraId } }',
    '{ withdrawal: refundExtraId, refund: withdrawalExtraId }',
    '{ refund: { request: updatedAt } }',
  ])('not in extra id names %s', (names) => {
    expect(faultsOf({ gateway: withProvider(`extraIdNames: ${names}`) })).toEqual([])
  })

  it.each([
    ['address: { pattern: "(" }', 'address.pattern: must be a pattern of RE2: without look-around and backreferences'],
    ['address: { pattern: "(a)\\\\1" }', 'address.pattern: must be a pattern of RE2: without look-around and backreferences'],
    ['address: { checksum: eip55 }', 'address.pattern: is missing'],
    ['address: { pattern: a, checksum: crc }', 'address.checksum: must be base58check, bech32 or eip55, or a list of these'],
    ['address: a', 'address: must be a mapping'],
    ['memo: { pattern: "[" }', 'memo.pattern: must be a pattern of RE2: without look-around and backreferences'],
    ['memo: { pattern: a, checksum: eip55 }', 'memo.checksum: is not a key of the configuration'],
    ['address: { format: nothing }', `address.format: must be one of ${formatNames.join(', ')}`],
    ['memo: nothing', 'memo: must be { format }, { pattern } or none'],
    ['memo: {}', 'memo: must have a format or a pattern'],
    ['memo: { format: XRP, pattern: a }', 'memo: must have a format or a pattern'],
    ['memo: { format: nothing }', 'memo.format: must be one of ATOM, HBAR, STX, TON, XLM, XRP'],
    ['decimals: 31', 'decimals: must be an integer from 0 to 30'],
    ['decimals: 1.5', 'decimals: must be an integer from 0 to 30'],
    ['home: yes', 'home: must be true or false'],
  ])('in a network of the table: %s', (rule, fault) => {
    const table = `- { coin: BTC, name: Bitcoin, networks: [ { network: BTC, code: BTC, ${rule} } ] }`
    expect(faultsOf({ assets: table })).toEqual([`assets.0.networks.0.${fault}`])
  })

  it.each([
    ['ftp://swap.example/api/v2', '', 'must be an http or https URL'],
    ['swap.example', '', 'must be an http or https URL'],
    ['https://me:secret@swap.example/api/v2', '', 'must not hold credentials'],
    ['https://swap.example/api/v2?key=secret', '', 'must not have a query or a fragment'],
    ['http://swap.example/api/v2', 'secret', 'must be https where a key is sent'],
    ['http://127.0.0.1.example/api/v2', 'secret', 'must be https where a key is sent'],
    ['http://localhost.example/api/v2', 'secret', 'must be https where a key is sent'],
  ])('in the URL of a provider: %s', (url, key, message) => {
    const gateway = `providers: { alpha: { form: A, url: "${url}", key: "${key}" } }\n${routing}`
    expect(faultsOf({ gateway })).toEqual([`providers.alpha.url: ${message}`])
  })

  it.each([
    'postgres://user:secret@[db/swapgate',
    'postgres://user:se/cret@db/swapgate',
    'postgres://user:12/cret@db/swapgate',
    'postgresql://user:12#cret@db/swapgate',
  ])('H51: is the URL of a ledger whose password would be read as an address: %s', (url) => {
    const fault = 'must be postgres://user:password@host/database: reserved characters of the password must be percent-encoded'
    expect(faultsOf({ gateway: `${whole}ledger: { url: "${url}" }` })).toEqual([`ledger.url: ${fault}`])
  })

  it.each([
    ['no providers', routing, ['providers: is missing']],
    ['no routing', `providers: { ${alpha} }`, ['routing: is missing']],
    ['no provider to route to', `providers: { ${alpha} }\nrouting: { providers: [] }`, ['routing.providers: must name a provider']],
    [
      'an unknown provider',
      `providers: { ${alpha} }\nrouting: { providers: [gamma] }`,
      ['routing.providers.0: is not in providers'],
    ],
    ['a provider that is nothing', `providers: { alpha: }\n${routing}`, ['providers.alpha: must be a mapping']],
    [
      'a provider without form and URL',
      `providers: { alpha: {} }\n${routing}`,
      ['providers.alpha.form: is missing', 'providers.alpha.url: is missing'],
    ],
    [
      'an unknown form',
      `providers: { alpha: { form: C, url: "http://127.0.0.1" } }\n${routing}`,
      [`providers.alpha.form: must be one of ${formNames}`],
    ],
    [
      'several providers in passthrough mode',
      `providers: { ${alpha}, ${beta} }\nrouting: { providers: [alpha, beta] }`,
      ["routing.providers: must name exactly one provider in passthrough mode: a client's key goes to no other"],
    ],
    [
      'an unknown holder of untagged ids',
      `providers: { ${alpha} }\nrouting: { providers: [alpha], untagged: gamma }`,
      ['routing.untagged: is not in providers'],
    ],
    [
      'a tag that another provider has',
      `providers: { ${alpha}, ${beta.replace('}', ', tag: alpha }')} }\n${routing}`,
      ['providers.beta.tag: is the tag of another provider'],
    ],
    [
      'another strategy',
      `providers: { ${alpha} }\nrouting: { providers: [alpha], strategy: random }`,
      ['routing.strategy: must be one of priority, weighted, best'],
    ],
    [
      'weights',
      `providers: { ${alpha} }\nrouting: { providers: [alpha], weights: { alpha: 1001 } }`,
      ['routing.weights.alpha: must be an integer from 0 to 1000'],
    ],
    [
      'a mirror',
      `providers: { ${alpha} }\nrouting: { providers: [alpha], mirror: { provider: other, sample: 0.1 } }`,
      ['routing.mirror.provider: is not in providers'],
    ],
    ['a key given twice', `${whole}${routing}`, ['routing: is not YAML: duplicate key']],
  ])('of the whole: %s', (_, gateway, faults) => {
    expect(faultsOf({ gateway })).toEqual(faults)
  })

  it.each([
    [
      'a coin twice',
      '- { coin: BTC, name: B, networks: [{ network: BTC, code: BTC }] }\n- { coin: btc, name: B, networks: [{ network: LN, code: BTCLN }] }',
      '1.coin: is given twice',
    ],
    [
      'a code twice',
      '- { coin: BTC, name: B, networks: [{ network: BTC, code: BTC }, { network: LN, code: btc }] }',
      '0.networks.1.code: is given twice',
    ],
    [
      'a network twice',
      '- { coin: BTC, name: B, networks: [{ network: BTC, code: BTC }, { network: LN, aliases: [btc], code: BTCLN }] }',
      '0.networks.1.aliases.0: is given twice',
    ],
    [
      'two default networks',
      '- { coin: BTC, name: B, networks: [{ network: BTC, code: BTC, default: true }, { network: LN, code: BTCLN, default: true }] }',
      '0.networks.1.default: only one network of a coin can be the default',
    ],
    ['a coin without networks', '- { coin: BTC, name: B, networks: [] }', '0.networks: must have a network'],
    [
      'an amount that is none',
      '- { coin: BTC, name: B, networks: [{ network: BTC, code: BTC, depositMin: 1,5 }] }',
      '0.networks.0.5: is not a key of the configuration',
    ],
    [
      'a negative amount',
      '- { coin: BTC, name: B, networks: [{ network: BTC, code: BTC, depositMin: -1 }] }',
      '0.networks.0.depositMin: must be a number from 0',
    ],
    [
      'limits the wrong way round',
      '- { coin: BTC, name: B, networks: [{ network: BTC, code: BTC, depositMin: 2, depositMax: 1.9 }] }',
      '0.networks.0.depositMax: must not be below depositMin',
    ],
    [
      'two chains of its own',
      '- { coin: ETH, name: E, networks: [{ network: ETH, code: ETH, home: true }, { network: BASE, code: ETHBASE, home: true }] }',
      '0.networks.1.home: only one network of a coin can be its own chain',
    ],
    [
      'a missing variable',
      '- { coin: BTC, name: "${NAME}", networks: [{ network: BTC, code: BTC }] }',
      '0.name: the environment variable NAME is not set',
    ],
  ])('of the asset table: %s', (_, table, fault) => {
    expect(faultsOf({ assets: table })).toEqual([`assets.${fault}`])
  })
})

describe('all faults', () => {
  const gateway = `
server: { port: many, colour: red }
redis: { url: "\${REDIS_URL}" }
auth: { mode: managed }
providers:
  alpha: { form: A, url: "http://swap.example/api/v2", key: "\${ALPHA_KEY}" }
  beta: { form: C, url: "http://127.0.0.1/api/v2", timeout: soon }
  gamma: { form: D, url: "http://127.0.0.1/api/v2" }
routing: { providers: [delta] }
sandbox: []
`

  it('are reported together in the order of their places, and only those', () => {
    expect(linesOf({ gateway, assets: '- {}', environment: { ALPHA_KEY: 'secret' } })).toEqual([
      'server.port: must be an integer from 0 to 65535 (line 2)',
      'server.colour: is not a key of the configuration (line 2)',
      'redis.url: the environment variable REDIS_URL is not set (line 3)',
      'providers.alpha.url: must be https where a key is sent (line 6)',
      'providers.beta.timeout: must be a number of seconds above 0, at most 604800 (line 7)',
      'providers.beta.key: is needed where auth.mode is managed (line 7)',
      `providers.beta.form: must be one of ${formNames} (line 7)`,
      'providers.gamma.key: is needed where auth.mode is managed (line 8)',
      `providers.gamma.form: must be one of ${formNames} (line 8)`,
      'routing.providers.0: is not in providers (line 9)',
      'sandbox: must be a mapping (line 10)',
      'assets.0.coin: is missing (line 1 of assets.yaml)',
      'assets.0.name: is missing (line 1 of assets.yaml)',
      'assets.0.networks: is missing (line 1 of assets.yaml)',
    ])
  })

  it('of every stage are found at once: what cannot be read hides nothing else', () => {
    const lines = linesOf({
      gateway: `
server: { port: 9101
admin:
  port: 9090
  port: 9091
limits:
  quotes: "\${A}\${B}"
  create: *one
ledgre: {}
providers:
  alpha:
    form: changelly
    url: http://127.0.0.1:9101/a
    key: "\${file:no-such-file}"
    timeout: soon
    settings: { a: b }
    native: [nothing]
    statuses: { wait: exchanging, hold: never }
    assets: { LTC: ltc, BTC: [] }
  beta: { url: http://swap.example/a, key: k, tag: "\${TAG}" }
routing:
  strategy: weighted
  providers: [alpha, gamma]
  pick: [nobody]
`,
      assets: `
- { coin: BTC, name: Bitcoin, networks: [{ network: BTC, code: BTC, decimals: many }, { network: LN, code: BTC }] }
- { coin: ETH, name: "Ether, networks: [] }
- { coin: btc, name: B, networks: [{ network: X, code: XBTC, depositMin: 2, depositMax: 1 }] }
`,
    })
    expect(lines).toEqual([
      'server: is not YAML: bad indent (line 2)',
      'admin.port: is not YAML: duplicate key (line 5)',
      'limits.quotes: the environment variable A is not set (line 7)',
      'limits.quotes: the environment variable B is not set (line 7)',
      'limits.create: aliases are not supported; please repeat the value (line 8)',
      'ledgre: is not a key of the configuration (line 9)',
      'providers.alpha.form: needs auth.mode managed: calls of the form changelly are signed, and clients cannot send a signature (line 12)',
      'providers.alpha.key: the file no-such-file cannot be read (line 14)',
      'providers.alpha.timeout: must be a number of seconds above 0, at most 604800 (line 15)',
      'providers.alpha.settings.a: is not a setting of the form changelly (line 16)',
      'providers.alpha.native: is not possible with a form that signs each call (line 17)',
      'providers.alpha.native.0: must be a method and a path, like GET /coins/{}/networks (line 17)',
      'providers.alpha.statuses.hold: must be one of wait, confirmation, confirmed, exchanging, sending, success, overdue, refunded, failed, held (line 18)',
      'providers.alpha.assets.BTC: must be a word, { coin, network }, { contract } or null (line 19)',
      'providers.beta.tag: the environment variable TAG is not set (line 20)',
      'providers.beta.form: is missing (line 20)',
      'providers.beta.url: must be https where a key is sent (line 20)',
      'routing.weights: is needed where routing.strategy is weighted (line 21)',
      'routing.providers.1: is not in providers (line 23)',
      "routing.providers: must name exactly one provider in passthrough mode: a client's key goes to no other (line 23)",
      'assets.0.networks.0.decimals: must be an integer from 0 to 30 (line 2 of assets.yaml)',
      'assets.0.networks.1.code: is given twice (line 2 of assets.yaml)',
      'assets.1: is not YAML: missing char (line 3 of assets.yaml)',
      'assets.2.coin: is given twice (line 4 of assets.yaml)',
      'assets.2.networks.0.depositMax: must not be below depositMin (line 4 of assets.yaml)',
    ])
  })

  it.each([
    [
      'a provider that cannot be read',
      `providers: { alpha: { form: A, url: "http://127.0.0.1:1/a", tag: "\${T}" }, beta: [] }\nrouting: { providers: [alpha, beta], pick: [x] }\nauth: { mode: odd }`,
      ['providers.alpha.tag', 'providers.beta', 'auth.mode'],
    ],
    ['a mode that is not known', `${whole}auth: { mode: "\${M}" }`, ['auth.mode']],
    ['a section that is not YAML', `providers: { ${alpha}\n${routing}`, ['providers']],
    [
      'a value of a union',
      withProvider('extraIdNames: { refund: { request: "${X}" } }'),
      ['providers.alpha.extraIdNames.refund.request'],
    ],
    ['a table that is not there', `${whole}assets: none.yaml`, ['assets']],
    ['a weight', `${whole.replace('[alpha]', '[alpha], strategy: weighted, weights: { alpha: x }')}`, ['routing.weights.alpha']],
    ['the same variable twice', `${whole}ledger: { url: "\${X}\${X}" }`, ['ledger.url']],
  ])('are not those that only follow from %s', (_, gateway, paths) => {
    expect(faultsOf({ gateway }).map((fault) => fault.split(': ')[0])).toEqual(paths)
  })

  it('never contain a value', () => {
    const secret = 'sk_live_0123456789'
    const environment = Object.fromEntries(['A', 'B', 'C', 'D', 'E', 'F'].map((name) => [name, secret]))
    const everywhere = `
server: { host: "", port: "\${A}", shutdownDelay: "\${B}", cors: ["\${A}"] }
auth: { mode: "\${C}" }
ledger: { url: "\${D}" }
providers: { alpha: { form: "\${E}", url: "\${F}", key: "\${A}", tag: "\${B}", state: "\${C}", timeout: "\${D}", extraIds: "\${E}" } }
routing: { providers: [alpha], strategy: "\${F}" }
`
    const faults = faultsOf({ gateway: everywhere, environment })
    expect(faults).toHaveLength(13)
    expect(faults.join('\n')).not.toContain(secret)
  })
})
