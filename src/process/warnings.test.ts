import { expect, it } from 'vitest'
import { readSettings } from '../config/index.ts'
import { type Asset, AssetTable } from '../domain/asset.ts'
import { knownForms } from '../forms/index.ts'
import { configWarnings, unclearAssets, upcomingChanges } from './warnings.ts'

it('forwardAddress of a form that sends no address is of no effect', () => {
  const alpha = { form: 'A', url: 'https://swap.example/api/v2', forwardAddress: 'true' } as never
  const config = readSettings({ providers: { alpha }, routing: { providers: ['alpha'] } }, knownForms, {})
  expect(configWarnings(config)).toContain('providers.alpha.forwardAddress: of no effect: the form A sends no address of a client')
})

it.each([
  ['sqlite:data/swapgate.db', 2, true],
  ['sqlite:data/swapgate.db', 1, false],
  ['postgres://user:password@host/database', 2, false],
])('the ledger %s of %i replicas: a warning is %s', (url, replicas, isWarned) => {
  const alpha = { form: 'A', url: 'https://swap.example/api/v2' } as never
  const settings = { ledger: { url }, limits: { replicas: String(replicas) } } as never
  const config = readSettings({ providers: { alpha }, routing: { providers: ['alpha'] }, ...(settings as object) }, knownForms, {})
  expect(configWarnings(config).some((line) => line.startsWith(`replicas is ${replicas}, and`))).toBe(isWarned)
})

it('names each network that is not offered, since its deposits may need a memo, with the line to write', () => {
  const notOffered = (own: object) => {
    const alpha = { form: 'A', url: 'https://swap.example/api/v2', ...own } as never
    const config = readSettings({ providers: { alpha }, routing: { providers: ['alpha'] } }, knownForms, {})
    return configWarnings(config).filter((line) => line.startsWith('providers.alpha: swaps from the network'))
  }
  const [ripple, stellar, ...others] = notOffered({})
  expect(ripple).toMatch(/XRP are not offered.*"extraIds: true".*"depositMemo: \[XLM\]"/)
  expect(stellar).toMatch(/XLM are not offered.*"depositMemo: \[XRP\]"/)
  expect(others).toEqual([])
  for (const own of [{ extraIds: 'true' }, { depositMemo: [] }, { depositMemo: ['XRP'] }, { state: 'off' }])
    expect(notOffered(own)).toEqual([])
})

it.each([
  ['one key', { key: 'k' }, { key: 'k' }, 'key'],
  ['one host and path', { url: 'https://one.example/api/v2' }, { url: 'https://one.example/api/v2/' }, 'host and path'],
])('two accounts with %s are reported, and one account with them is not', (_, one, other, what) => {
  const provider = (name: string, facts: object) => ({ form: 'A', url: `https://${name}.example/api/v2`, ...facts })
  const warnings = (account: string) => {
    const providers = { alpha: provider('alpha', { ...one, account }), beta: provider('beta', { ...other, account }) } as never
    return configWarnings(readSettings({ providers, routing: { providers: ['alpha'] } }, knownForms, {}))
  }
  const line = `providers.alpha and providers.beta have one ${what}, but two accounts: with one \`account\` no swap of one is taken for the other's`
  expect(warnings('')).toContain(line)
  expect(warnings('word')).not.toContain(line)
})

it.each([
  [{ ledger: { url: 'postgres://user:pw@db.example/swapgate' } }, 'ledger.url'],
  [{ ledger: { url: 'postgres://user:pw@db.example/swapgate?sslmode=disable' } }, 'ledger.url'],
  [{ ledger: { url: 'postgres:///swapgate?host=db.example&user=user&password=pw' } }, 'ledger.url'],
  [{ ledger: { url: 'postgres://user:pw@db.example/swapgate?sslmode=require' } }, undefined],
  [{ ledger: { url: 'postgres://user:pw@db.example/swapgate?sslmode=verify-full' } }, undefined],
  [{ ledger: { url: 'postgres://user:pw@127.0.0.1/swapgate' } }, undefined],
  [{ ledger: { url: 'postgres://user:pw@localhost/swapgate' } }, undefined],
  [{ ledger: { url: 'postgres:///swapgate?host=/run/postgresql&user=user&password=pw' } }, undefined],
  [{ ledger: { url: 'postgres://user@db.example/swapgate' } }, undefined],
  [{ redis: { url: 'redis://:pw@cache.example:6379/0' } }, 'redis.url'],
  [{ redis: { url: 'redis+sentinel://one.example,two.example/main?sentinel=user:pw' } }, 'redis.url'],
  [{ redis: { url: 'redis+cluster://user:pw@one.example,127.0.0.1' } }, 'redis.url'],
  [{ redis: { url: 'rediss://:pw@cache.example:6379/0' } }, undefined],
  [{ redis: { url: 'redis://:pw@[::1]:6379/0' } }, undefined],
  [{ redis: { url: 'redis://cache.example:6379/0' } }, undefined],
])('a password in clear to another host is reported: %j', (settings, key) => {
  const alpha = { form: 'A', url: 'https://swap.example/api/v2' } as never
  const config = readSettings({ providers: { alpha }, routing: { providers: ['alpha'] }, ...(settings as object) }, knownForms, {})
  const warnings = configWarnings(config).filter((line) => line.includes('in clear'))
  expect(warnings.map((line) => line.split(':')[0])).toEqual(key === undefined ? [] : [key])
  expect(warnings.join()).not.toContain('pw')
})

it('what changes about assets is told from 30 days before its day, until the table follows', () => {
  const icx = { code: 'ICX', coin: 'ICX', network: 'ICX', name: 'ICON', aliases: [], isDefault: true }
  const tableWith = (facts: Partial<Asset>) => new AssetTable([{ coin: 'ICX', name: 'ICON', assets: [{ ...icx, ...facts }] }])
  const change = { on: '2026-12-31', what: 'ICON stops' }
  const told = (day: string, facts: Partial<Asset> = {}) => upcomingChanges(tableWith({ change, ...facts }), Date.parse(day))
  const line = 'assets: ICON stops on 2026-12-31 (ICX): edit the table (docs/assets.md)'
  expect([told('2026-11-30'), told('2026-12-01'), told('2027-06-01')]).toEqual([[], [line], [line]])
  expect(told('2026-12-01', { isOffered: false })).toEqual([])
})

it('names an asset that is not offered since the last list of its provider has it twice, with the line to write', async () => {
  const read = (assets: object) => {
    const providers = { cn: { form: 'changenow', url: 'https://cn.test', key: 'k', ...assets } }
    return readSettings({ assets: 'config/assets.yaml', providers, routing: { providers: ['cn'] } }, knownForms, {})
  }
  const rows = ['gram', 'ton'].map((coin) => ({ coin, network: 'ton', name: coin, icon: '' }))
  expect(await unclearAssets(read({}), async () => rows)).toEqual([
    'providers.cn lists GRAM (GRAM on TON) as gram on ton, ton on ton, and does not offer it: write assets: { GRAM: { coin: gram, network: ton } }, or another of these',
  ])
  expect(await unclearAssets(read({ assets: { TON: { coin: 'ton', network: 'ton' } } }), async () => rows)).toEqual([])
  expect(await unclearAssets(read({}), async () => undefined)).toEqual([])
})
