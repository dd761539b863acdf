/** docs/contract.md §16: `swapgate providers try` before the stand-in of each real provider, over the asset table that is shipped. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { TrialReport } from '../../src/cli/providers/try.ts'
import { Place } from '../cli/place.ts'
import { configured, type Documented, documented, type ProviderName, providerNames } from './documented.ts'
import { clientAddress } from './rig.ts'
import { type RunningExchange, startExchange } from './stand-ins/exchange.ts'

interface Trial {
  readonly exitCode: number
  readonly report: TrialReport
  readonly exchange: RunningExchange
}

async function tried(
  name: ProviderName,
  prepare: (exchange: RunningExchange) => void = () => {},
  hasAddress = true,
  options: readonly string[] = [],
  settings: object = {},
): Promise<Trial> {
  const facts: Documented = documented[name]
  const { dialect, key, addressHeader } = facts
  const exchange = await startExchange(dialect)
  exchange.key = key
  prepare(exchange)
  using place = new Place()
  const provider = { form: name, url: exchange.url, ...configured(facts), extraIds: true, ...settings }
  const address = addressHeader === undefined || !hasAddress ? [] : ['--address', clientAddress]
  const sections = { auth: { mode: 'managed' }, ledger: { url: place.ledgerUrl }, routing: { providers: ['alpha'] } }
  writeFileSync(place.file, JSON.stringify({ ...sections, providers: { alpha: provider } }))
  copyFileSync('config/assets.yaml', join(place.directory, 'assets.yaml'))
  const { exitCode, out } = await place.swapgate('providers', 'try', 'alpha', '--json', ...address, ...options)
  await exchange.end()
  return { exitCode, report: JSON.parse(out.join('\n')) as TrialReport, exchange }
}

it.each(providerNames)('%s: everything works, no response differs from the form, and nothing is created', async (name) => {
  const { exitCode, report, exchange } = await tried(name)
  const { hasList, words, rateTypes }: Documented = documented[name]
  const outcomeOf = (rateType: 'fixed' | 'float'): string => (rateTypes.includes(rateType) ? 'works' : 'none')
  expect(report.checks.map(({ check, outcome, message, deviations }) => [check, outcome, deviations, message])).toEqual([
    ...['currencies', 'assets'].map((check) => [check, 'works', [], expect.any(String)]),
    ...(['float', 'fixed'] as const).map((rateType) => [`${rateType} quote`, outcomeOf(rateType), [], expect.any(String)]),
    ['list', hasList ? 'works' : 'none', [], expect.any(String)],
    ...['unknown id', 'key'].map((check) => [check, 'works', [], expect.any(String)]),
  ])
  expect([exitCode, report.works, report.form]).toEqual([0, true, name])
  const { assets = [] } = report.checks.find(({ check }) => check === 'assets') ?? {}
  expect(assets).toEqual(expect.arrayContaining(Object.keys(words)))
  expect([exchange.swaps, exchange.received('create')]).toEqual([[], []])
})

it.each(providerNames)('%s: a refused key fails, and the report has the reason', async (name) => {
  const { exitCode, report } = await tried(name, (exchange) => {
    exchange.key = 'another-key'
  })
  expect([exitCode, report.works]).toEqual([1, false])
  expect(report.checks.find(({ check }) => check === 'key')).toMatchObject({
    outcome: 'fails',
    message: expect.stringMatching(/^refused for /),
  })
})

it.each(providerNames)('%s: an amount is found that its limits allow', async (name) => {
  const { rateTypes }: Documented = documented[name]
  const { exitCode, report } = await tried(name, ({ market }) => Object.assign(market, { min: 3, max: 7 }))
  expect(report.checks.filter(({ check }) => check.endsWith('quote')).map(({ message }) => message)).toEqual(
    (['float', 'fixed'] as const).map((rateType) =>
      expect.stringMatching(rateTypes.includes(rateType) ? /^6 .*minimum 3, maximum 7$/ : /no swaps/),
    ),
  )
  expect(exitCode).toBe(0)
})

/** The stand-ins have no quotes by the amount received: they refuse them. */
it.each(providerNames)(
  '%s: --strict shows its word for too little with its limits, and memo coins; nothing is created',
  async (name) => {
    const { report, exchange } = await tried(name, undefined, true, ['--strict'])
    const { hasList, rateTypes, words }: Documented = documented[name]
    const others = report.checks.slice(7).filter(({ check }) => !check.endsWith('received'))
    expect(others.map(({ check, outcome, deviations }) => [check, outcome, deviations])).toEqual([
      ...(['float', 'fixed'] as const).map((type) => [`${type} minimum`, rateTypes.includes(type) ? 'works' : 'none', []]),
      ['memo coins', 'works', []],
      ['statuses', hasList ? 'works' : 'skipped', []],
      ['gets', 'skipped', []],
    ])
    for (const { message } of others.filter(({ check, outcome }) => check.endsWith('minimum') && outcome === 'works'))
      expect(message).toMatch(/^0\.001 BTC to ETH is refused: ".+ Minimum 0\.002, maximum 50\.", minimum 0\.002, maximum 50$/)
    const { message = '' } = others.find(({ check }) => check === 'memo coins') ?? {}
    expect(message).toMatch(/XRP.* are listed; .*XRP to BTC gives .*BTC to XRP gives /)
    expect(Object.keys(words)).toContain('XRP')
    expect(others.find(({ check }) => check === 'statuses')?.message).toMatch(
      hasList ? /^in its list: none/ : /^the form has no list/,
    )
    expect([exchange.swaps, exchange.received('create')]).toEqual([[], []])
  },
)

it('--strict names the statuses that it has not seen with the words of the provider', async () => {
  const { report } = await tried('changenow', undefined, true, ['--strict'])
  expect(report.checks.find(({ check }) => check === 'statuses')?.message).toMatch(
    /; not seen yet: wait \(new or waiting\), .*confirmation \(confirming\).*success \(finished\)/,
  )
})

it('a coin that needs a memo by the list, and none by the configuration, is exit 1 with --strict alone', async () => {
  const settings = { depositMemo: [] }
  const { report } = await tried('exolix', undefined, true, ['--strict'], settings)
  expect(report.checks.find(({ check }) => check === 'memo coins')).toMatchObject({
    outcome: 'fails',
    message: 'its list says that these need a memo, which depositMemo does not ask for: XRP, GRAM',
  })
  expect((await tried('exolix', undefined, true, [], settings)).exitCode).toBe(0)
})

const needAddress = providerNames.filter((name) => (documented[name] as Documented).addressHeader !== undefined)
it.each(needAddress)('%s: what needs the address of a user is skipped without one, and is no failure', async (name) => {
  const { exitCode, report, exchange } = await tried(name, undefined, false)
  const skipped = report.checks.filter(({ outcome }) => outcome === 'skipped').map(({ check }) => check)
  expect([exitCode, skipped]).toEqual([0, ['fixed quote', 'key']])
  expect(exchange.received('quote')).toEqual([])
})

it('changenow: the quotes are for pairs that its list has as on', async () => {
  const { exitCode, report } = await tried('changenow', (exchange) => {
    const flagsOf: Readonly<Record<string, object>> = {
      btc: { buy: false, sell: false },
      eth: { supportsFixedRate: false, sell: false },
    }
    exchange.tamper = (operation, { json }) =>
      operation === 'currencies'
        ? { json: (json as { ticker: string }[]).map((row) => ({ ...row, ...flagsOf[row.ticker] })) }
        : undefined
  })
  const messageOf = (rateType: string) => report.checks.find(({ check }) => check === `${rateType} quote`)?.message
  expect(messageOf('float')).toMatch(/ [A-Z0-9]+ to ETH gives /)
  expect(messageOf('fixed')).not.toMatch(/\b(?:BTC|ETH)\b/)
  expect(report.checks.find(({ check }) => check === 'assets')?.assets).not.toContain('BTC')
  expect([exitCode, report.works]).toEqual([0, true])
})
