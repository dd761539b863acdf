/** docs/contract.md §16: `swapgate assets check <provider>`, over sockets, with providers of Form A, of Form B and of a real form. */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AssetCheck } from '../../src/core/operations/asset-check.ts'
import type { CommandResult } from '../support/command.ts'
import { currenciesA, type ProviderA, startFormA } from '../support/form-a.ts'
import { currenciesB, type ProviderB, startFormB } from '../support/form-b.ts'
import { Place } from './place.ts'

let alpha: ProviderA
let beta: ProviderB

beforeAll(async () => {
  ;[alpha, beta] = [await startFormA(), await startFormB()]
})
beforeEach(() => {
  alpha.holdings.currencies = currenciesA
  beta.holdings.currencies = currenciesB
  alpha.reply('currencies', () => undefined)
})
afterAll(() => Promise.all([alpha.close(), beta.close()]))

const row = (code: string, network?: string): object => ({ code, name: code, icon: 'https://icons.test/x.svg', network })

interface Report extends AssetCheck {
  readonly provider: string
}

async function check(provider: string, more = ''): Promise<CommandResult & { readonly report: Report }> {
  using place = new Place({ providers: [alpha, beta] })
  if (more !== '') place.write(more.replaceAll('ALPHA', alpha.url).replaceAll('BETA', beta.url))
  const result = await place.swapgate('assets', 'check', provider, '--json')
  return { ...result, report: JSON.parse(result.out.join('\n') || '{}') }
}

describe('a provider that names assets by code (A)', () => {
  it('agrees: 0, with what only one of both has', async () => {
    alpha.holdings.currencies = currenciesA.filter((each) => (each as { code: string }).code !== 'ETH')
    const { exitCode, report } = await check('alpha')
    expect(exitCode).toBe(0)
    expect(report).toEqual({
      provider: 'alpha',
      rows: 4,
      matched: 3,
      contradictions: [],
      collisions: [],
      unknown: [{ code: 'DOGE', network: 'DOGE' }],
      missing: [{ code: 'ETH', coin: 'ETH', network: 'ETH' }],
    })
  })

  it('a network other than the table’s contradicts: 1', async () => {
    alpha.holdings.currencies = [...currenciesA.slice(0, 3), row('USDTTRC20', 'BSC')]
    const { exitCode, report } = await check('alpha')
    expect(exitCode).toBe(1)
    const usdt = { code: 'USDTTRC20', coin: 'USDT', network: 'TRX' }
    expect(report.contradictions).toEqual([{ what: 'network', listed: { code: 'USDTTRC20', network: 'BSC' }, table: [usdt] }])
    expect([report.missing, report.unknown]).toEqual([[usdt], []])
  })

  it('a code that its list uses for two assets is two meanings: 1', async () => {
    alpha.holdings.currencies = [...currenciesA.slice(0, 2), row('USDT', 'ETH'), row('USDT', 'TRX')]
    const { exitCode, report } = await check('alpha')
    expect(exitCode).toBe(1)
    expect(report.collisions.map(({ table }) => table.map(({ code }) => code))).toEqual([['USDTERC20'], ['USDTTRC20']])
  })

  it('its own word for an asset is that asset, and one that is not offered is not missing', async () => {
    alpha.holdings.currencies = [row('XBT'), row('USDTTRC20', 'TRX'), row('USDTERC20', 'ETH')]
    const { exitCode, report } = await check(
      'alpha',
      `providers: { alpha: { form: A, url: "ALPHA", key: k, assets: { BTC: XBT, ETH: null } } }\nrouting: { providers: [alpha] }\n`,
    )
    expect([exitCode, report.matched, report.missing, report.unknown]).toEqual([0, 3, [], []])
  })

  it('reads every page of a long list, and reports its progress', async () => {
    const many = Array.from({ length: 250 }, (_, at) => row(`C${at}`))
    alpha.holdings.currencies = [...currenciesA, ...many]
    const { exitCode, report, err } = await check('alpha')
    expect([exitCode, report.rows, report.matched, report.unknown.length]).toEqual([0, 255, 4, 251])
    expect(err).toContain('swapgate: reading page 2 of the list of alpha')
  })

  it('waits as the provider requires, and continues at that page', async () => {
    alpha.holdings.currencies = [...currenciesA, ...Array.from({ length: 250 }, (_, at) => row(`C${at}`))]
    let refusals = 1
    alpha.reply('currencies', ({ query }) => {
      if (query.get('page') !== '2' || refusals-- < 1) return undefined
      return { status: 429, headers: { 'retry-after': '1' }, json: { error: 'Too Many Requests', message: 'Wait', code: 429 } }
    })
    const { exitCode, report, err } = await check('alpha')
    expect([exitCode, report.rows]).toEqual([0, 255])
    expect(err.join('\n')).toMatch(/waiting \d+ s before the next page of alpha/)
  })

  it('a list that cannot be read is 1, with the reason', async () => {
    alpha.reply('currencies', { status: 500, json: {} })
    const { exitCode, err, out } = await check('alpha')
    expect([exitCode, out]).toEqual([1, []])
    expect(err.at(-1)).toMatch(/^swapgate: the list of alpha cannot be read: /)
  })
})

describe('a provider that lists coins without networks (B)', () => {
  it('agrees: 0; a coin stands for all its assets', async () => {
    const { exitCode, report } = await check('beta')
    expect([exitCode, report.matched, report.missing, report.contradictions, report.collisions]).toEqual([0, 4, [], [], []])
    expect(report.unknown.every(({ coin }) => coin !== undefined)).toBe(true)
  })

  it('a coin that is a code of the table is two meanings: 1', async () => {
    beta.holdings.currencies = [...currenciesB, { ...row('USDTTRC20'), notes: '' }]
    const { exitCode, report } = await check('beta')
    expect(exitCode).toBe(1)
    const usdt = { code: 'USDTTRC20', coin: 'USDT', network: 'TRX' }
    expect(report.collisions).toEqual([{ listed: { coin: 'USDTTRC20' }, table: [usdt] }])
  })
})

describe('a provider that lists coins with their networks (Exolix)', () => {
  const exolix = `providers: { alpha: { form: exolix, url: "ALPHA", key: k } }\nrouting: { providers: [alpha] }\nassets: own.yaml\n`
  const table = `
- { coin: USDT, name: Tether, networks: [ { network: TRX, code: USDTTRC20, memo: none }, { network: ETH, code: USDTERC20 } ] }
- { coin: POL, name: Polygon, networks: [ { network: POLYGON, code: POL, aliases: [MATIC] } ] }
`
  const network = (name: string, memoNeeded: boolean): object => ({
    network: name,
    name,
    shortName: '',
    notes: '',
    addressRegex: null,
    isDefault: true,
    decimal: 6,
    icon: null,
    blockExplorer: null,
    depositMinAmount: null,
    memoNeeded,
    memoName: null,
    memoRegex: null,
    precision: 6,
    contract: null,
  })

  it('a memo that the table denies contradicts, and a network that it lacks is unknown', async () => {
    const coins = [
      { code: 'USDT', name: 'Tether', icon: '', notes: '', networks: [network('TRX', true), network('BSC', false)] },
      { code: 'POL', name: 'Polygon', icon: '', notes: '', networks: [network('MATIC', false)] },
    ]
    alpha.reply('currencies', { json: { data: coins, count: coins.length } })
    using place = new Place({ providers: [alpha, beta] })
    place.write(exolix.replaceAll('ALPHA', alpha.url))
    writeFileSync(`${place.directory}/own.yaml`, table)
    const { exitCode, out } = await place.swapgate('assets', 'check', 'alpha')
    expect(exitCode).toBe(1)
    expect(out).toEqual([
      'alpha lists 3 rows. 2 assets of the table are among them.',
      'Contradicts the table: USDT on TRX may need a memo, and the table has none for USDTTRC20 (USDT on TRX).',
      'Only in the list: USDT on BSC.',
      'Only in the table: USDTERC20.',
    ])
  })
})

it.each([
  [['check', 'unknown'], 1, /no such provider; the configuration has alpha, beta/],
  [['check'], 2, /missing required argument/],
  [['nothing'], 2, /unknown command/],
])('%j ends with %i', async (args, code, message) => {
  using place = new Place({ providers: [alpha, beta] })
  const { exitCode, err } = await place.swapgate('assets', ...args)
  expect(exitCode).toBe(code)
  expect(err.join('\n')).toMatch(message)
})

it('docs/assets.md shows what it prints', async () => {
  const [, command, shown] = /\$ swapgate (.*)\n([\s\S]*?)\n```/.exec(readFileSync('docs/assets.md', 'utf8')) ?? []
  alpha.holdings.currencies = currenciesA.map((each) => ((each as { code: string }).code === 'ETH' ? row('ETH', 'BSC') : each))
  using place = new Place({ providers: [alpha, beta] })
  const { exitCode, out } = await place.swapgate(...(command as string).split(' '))
  expect([exitCode, out.join('\n')]).toEqual([1, shown])
})

it('creates nothing', () => {
  expect([...alpha.received('create'), ...beta.received('create')]).toEqual([])
})
