/** docs/contract.md §16: `swapgate providers try`, with providers over real sockets. Nothing is ever created. */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { TrialReport } from '../../src/cli/providers/try.ts'
import { type Changelly, changellyKey, startChangelly } from '../support/changelly.ts'
import { type ProviderA, rateA, startFormA } from '../support/form-a.ts'
import { detailedB, type ProviderB, startFormB } from '../support/form-b.ts'
import { freePort } from '../support/free-port.ts'
import { swap } from '../support/swaps.ts'
import { Place } from './place.ts'

let alpha: ProviderA
let beta: ProviderB
let gamma: Changelly

beforeAll(async () => {
  ;[alpha, beta, gamma] = [await startFormA(), await startFormB(), await startChangelly()]
})
afterEach(() => {
  for (const provider of [alpha, beta, gamma]) provider.reset()
  gamma.resultOf = () => undefined
  gamma.calls.length = 0
})
afterAll(() => Promise.all([alpha.close(), beta.close(), gamma.close()]))

interface Configured {
  readonly mode?: 'managed' | 'passthrough'
  readonly providers?: Readonly<Record<string, object>>
  readonly assets?: string
}

class TrialPlace extends Place {
  constructor({ mode = 'managed', providers = {}, assets }: Configured = {}) {
    super()
    const key = mode === 'managed' ? { key: 'provider-key-1' } : {}
    const all = {
      alpha: { form: 'A', url: alpha.url, ...key },
      beta: { form: 'B', url: beta.url, ...key },
      ...(mode === 'managed' && { gamma: { form: 'changelly', url: `${gamma.url}/rpc`, key: changellyKey } }),
      ...providers,
    }
    writeFileSync(
      this.file,
      JSON.stringify({
        auth: { mode },
        assets,
        ledger: { url: this.ledgerUrl },
        providers: all,
        routing: { providers: ['alpha'] },
      }),
    )
  }

  async report(name: string): Promise<{ readonly exitCode: number; readonly report: TrialReport }> {
    const { exitCode, out, err } = await this.swapgate('providers', 'try', name, '--json')
    expect(err).toEqual([])
    expect(out).toHaveLength(1)
    return { exitCode, report: JSON.parse(out[0] as string) as TrialReport }
  }
}

function outcomes({ checks }: TrialReport): Readonly<Record<string, string>> {
  return Object.fromEntries(checks.map(({ check, outcome }) => [check, outcome]))
}

function messageOf({ checks }: TrialReport, name: string): string {
  return checks.find(({ check }) => check === name)?.message ?? ''
}

const allWork = {
  ...{ currencies: 'works', assets: 'works', 'float quote': 'works', 'fixed quote': 'works' },
  ...{ list: 'works', 'unknown id': 'works', key: 'works' },
}

describe('a provider in which everything works', () => {
  it.each(['alpha', 'beta', 'gamma'])('%s: each check works, the exit code is 0, and nothing is created', async (name) => {
    using place = new TrialPlace()
    const { exitCode, report } = await place.report(name)
    expect(outcomes(report)).toEqual(allWork)
    expect([exitCode, report.works, report.provider]).toEqual([0, true, name])

    expect(report.checks.flatMap(({ deviations }) => deviations)).toEqual([])
    expect(report.checks.find(({ check }) => check === 'assets')?.assets).toEqual(
      expect.arrayContaining(['BTC', 'ETH', 'USDTTRC20']),
    )
    expect([...alpha.received('create'), ...beta.received('create')]).toEqual([])
    expect(gamma.calls.filter(({ method }) => /^create/i.test(method))).toEqual([])
  })

  it('prints a line for each check, and what it concludes', async () => {
    using place = new TrialPlace()
    const { exitCode, out } = await place.swapgate('providers', 'try', 'gamma')
    expect(exitCode).toBe(0)
    expect(out[0]).toBe(`gamma (form changelly) at ${gamma.origin}`)
    expect(out.slice(1, -1).map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual(
      Object.entries(allWork).map(([check, outcome]) => [outcome, check]),
    )
    expect(out.join('\n')).toMatch(/float quote {2}1 BTC to ETH gives 18\.234, minimum 0\.002, maximum 20$/m)
    expect(out.join('\n')).toMatch(/^works {4}key {10}accepted for .*listTransactions/m)
    expect(out.at(-1)).toBe('Everything works at gamma.')
  })
})

describe('what differs from the form', () => {
  it('is counted by the provider’s own name of the field, and is no failure', async () => {
    using place = new TrialPlace()
    alpha.reply('rate', ({ query }) => ({ json: { ...rateA(query), amountTo: '0.5', slippage: 1, '\u001b[31mred': 2 } }))
    const { exitCode, report } = await place.report('alpha')
    expect([exitCode, report.works]).toEqual([0, true])
    expect(report.checks.find(({ check }) => check === 'float quote')?.deviations).toEqual([
      { field: 'amountTo', drift: 'numberAsText', count: 1 },
      { field: '_other', name: 'slippage', drift: 'unknownField', count: 1 },
      { field: '_other', drift: 'unknownField', count: 1 },
    ])
    const { out } = await place.swapgate('providers', 'try', 'alpha')
    expect(out).toContain('differs  float quote  slippage: the form does not have it')
    expect(out.at(-1)).toBe('Everything works at alpha. Deviations from the form: 6.')
    expect(out.join('\n')).not.toContain('\u001b')
  })

  it('a quote that does not match the form fails, with the place', async () => {
    using place = new TrialPlace()
    alpha.reply('rate', ({ query }) => ({ json: { ...rateA(query), minAmount: 'none' } }))
    const { exitCode, report } = await place.report('alpha')
    expect([exitCode, outcomes(report)]).toEqual([1, { ...allWork, 'float quote': 'fails', 'fixed quote': 'fails' }])
    expect(messageOf(report, 'float quote')).toMatch(/not of the form: it must be a number$/)
    expect(report.checks.find(({ check }) => check === 'float quote')?.deviations).toContainEqual({
      field: 'minAmount',
      drift: 'unreadable',
      count: 2,
    })
  })
})

describe('a provider that does not work', () => {
  it('a get of an unknown id must be 404', async () => {
    using place = new TrialPlace()
    alpha.reply('get', { status: 401, json: { error: 'Unauthorized', message: 'Invalid API key', code: 401 } })
    const { exitCode, report } = await place.report('alpha')
    expect(exitCode).toBe(1)
    expect(outcomes(report)).toEqual({ ...allWork, 'unknown id': 'fails', key: 'fails' })
    expect(messageOf(report, 'key')).toBe('refused for getTransaction')
    expect(report.checks.find(({ check }) => check === 'unknown id')?.status).toBe(401)
  })

  it('a wrong key is refused, and everything that needs none still works', async () => {
    using place = new TrialPlace()
    const refusal = { status: 401, json: { error: 'Unauthorized', message: 'Invalid API key', code: 401 } }
    for (const operation of ['list', 'get'] as const) alpha.reply(operation, refusal)
    const { exitCode, report } = await place.report('alpha')
    expect(exitCode).toBe(1)
    expect(outcomes(report)).toMatchObject({ 'float quote': 'works', 'fixed quote': 'works', list: 'fails', key: 'fails' })
    const { out } = await place.swapgate('providers', 'try', 'alpha')
    expect(out.join('\n')).toMatch(/^fails {4}list {9}the key is refused \(status 401\)$/m)
    expect(out.at(-1)).toMatch(/^\d of 7 checks failed\.$/)
  })

  it('a fixed quote without the id that a create needs fails', async () => {
    using place = new TrialPlace()
    gamma.resultOf = ({ method, params }) =>
      method === 'getFixRateForAmount' ? { result: [{ ...params, amountTo: '1', networkFee: '0', id: null }] } : undefined
    const { exitCode, report } = await place.report('gamma')
    expect([exitCode, outcomes(report)]).toEqual([1, { ...allWork, 'fixed quote': 'fails' }])
    expect(messageOf(report, 'fixed quote')).toMatch(/it is missing$/)
  })

  it('another pair is tried if the first is not offered, and an amount within the limits', async () => {
    using place = new TrialPlace()
    gamma.resultOf = ({ method, params: { from, to, amountFrom } }) => {
      if (method !== 'getExchangeAmount') return undefined
      if (from === 'btc' && to === 'eth') return { error: { code: -32602, message: 'The pair is disabled.' } }
      if (Number(amountFrom) >= 25) return undefined
      return { error: { code: -32602, message: 'Too little.', data: { limits: { min: { from: '25' }, max: { from: '100' } } } } }
    }
    const { report } = await place.report('gamma')
    expect(messageOf(report, 'float quote')).toMatch(/^50 ETH to BTC gives 18\.234/)
  })

  it('with --strict, a refusal of too little in words that the form does not know fails', async () => {
    using place = new TrialPlace()
    gamma.resultOf = ({ method, params: { amountFrom } }) =>
      method === 'getExchangeAmount' && Number(amountFrom) < 0.01 ? { error: { code: -32602, message: 'Not today.' } } : undefined
    const { exitCode, out } = await place.swapgate('providers', 'try', 'gamma', '--strict')
    expect(exitCode).toBe(1)
    expect(out.join('\n')).toMatch(
      /^fails {4}float minimum {3}0\.001 BTC to ETH: its refusal does not say that it is too little: "Not today\."/m,
    )
  })

  it('an unreachable one: its failures, without a stack', async () => {
    using place = new TrialPlace({
      providers: { alpha: { form: 'A', url: `http://127.0.0.1:${await freePort(20_000, 2_000)}/api/v2`, key: 'provider-key-1' } },
    })
    const { exitCode, report } = await place.report('alpha')
    expect(exitCode).toBe(1)
    expect(messageOf(report, 'currencies')).toBe(
      'no connection to the provider: nothing listens at its address and port (ECONNREFUSED)',
    )
    expect(outcomes(report)).toMatchObject({ currencies: 'fails', list: 'fails', 'unknown id': 'fails', key: 'fails' })
    expect(report.checks[0]).toMatchObject({ cause: 'refused' })
    const { out } = await place.swapgate('providers', 'try', 'alpha')
    expect(out[1]).toMatch(/^fails .*\(ECONNREFUSED\) \(cause refused\)$/)
  })

  it('one whose list is no JSON: the cause, beside its status', async () => {
    using place = new TrialPlace()
    alpha.reply('currencies', () => ({ text: '<html>' }))
    const { report } = await place.report('alpha')
    expect(report.checks[0]).toMatchObject({ outcome: 'fails', status: 200, cause: 'not_json' })
    expect(messageOf(report, 'currencies')).toBe('the response cannot be read: it is not JSON')
  })
})

it('without a key, in passthrough mode, what needs one is skipped', async () => {
  using place = new TrialPlace({ mode: 'passthrough' })
  const { exitCode, report } = await place.report('alpha')
  expect(exitCode).toBe(0)
  expect(outcomes(report)).toEqual({ ...allWork, list: 'skipped', 'unknown id': 'skipped', key: 'skipped' })
  expect([...alpha.received('list'), ...alpha.received('get')]).toEqual([])
})

it('assets that the table has not are listed and do not match; without two of the table it fails', async () => {
  using place = new TrialPlace()
  const before = beta.holdings.currencies
  beta.holdings.currencies = [{ code: 'NEWCOIN', name: 'New', icon: 'https://icons.test/new.svg', notes: '' }]
  const { exitCode, report } = await place.report('beta')
  beta.holdings.currencies = before
  expect(exitCode).toBe(1)
  expect(messageOf(report, 'currencies')).toBe('1 assets are listed')
  expect(outcomes(report)).toMatchObject({ currencies: 'works', assets: 'fails', 'float quote': 'skipped' })
})

it('an unknown provider is refused, with the names that there are', async () => {
  using place = new TrialPlace()
  const { exitCode, err } = await place.swapgate('providers', 'try', 'unknown')
  expect([exitCode, err.join('\n')]).toEqual([1, 'swapgate: no such provider; the configuration has alpha, beta, gamma'])
})

it('a list whose times cannot be read fails: a lost create would not be found again', async () => {
  using place = new TrialPlace()
  alpha.holdings.swaps = [swap({ createdAt: 'last week' })]
  const { exitCode, report } = await place.report('alpha')
  expect([exitCode, outcomes(report).list]).toEqual([1, 'fails'])
  expect(messageOf(report, 'list')).toContain('creation time')
})

describe('deposits on networks that have memos', () => {
  const xrp = { code: 'XRP', name: 'XRP', icon: 'https://icons.test/xrp.svg', network: 'XRP', depositMin: 5, depositMax: 500000 }

  it.each([
    [{}, '; deposits: XRP needs a memo, so not offered without extraIds'],
    [{ extraIds: true }, '; deposits: XRP needs a memo'],
    [{ depositMemo: [] }, '; deposits: XRP is taken for addresses of one swap each'],
  ])('with %j it says whether they are safe', async (settings, text) => {
    using place = new TrialPlace({
      assets: resolve('config/assets.yaml'),
      providers: { alpha: { form: 'A', url: alpha.url, key: 'provider-key-1', ...settings } },
    })
    const before = alpha.holdings.currencies
    alpha.holdings.currencies = [...before, xrp]
    const { report } = await place.report('alpha')
    alpha.holdings.currencies = before
    expect(messageOf(report, 'assets')).toMatch(new RegExp(`${text}$`))
  })
})

describe('a provider of Form B whose gets name no network', () => {
  it.each(['confirmed', 'unconfirmed'])(
    'with networks: %s the need of the setting is told only where it is missing',
    async (networks) => {
      using place = new TrialPlace({
        providers: { beta: { form: 'B', url: beta.url, key: 'provider-key-1', networks } },
      })
      const named = swap({ id: 'tx-1' })
      beta.holdings.swaps = [named]
      const silent = await place.report('beta')
      expect(messageOf(silent.report, 'list')).not.toContain('unconfirmed')
      beta.reply('get', { json: { ...detailedB(named), network_from: '', network_to: '' } })
      const { report } = await place.report('beta')
      beta.holdings.swaps = []
      expect(messageOf(report, 'list').includes('networks: unconfirmed')).toBe(networks === 'confirmed')
    },
  )
})
