/** docs/contract-operators.md §12: `swapgate providers status | diff | mirror`, with a gateway that runs and without. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProviderDiff } from '../../src/core/operations/provider-diff.ts'
import type { MirrorFigures, StatusReport } from '../../src/core/operations/provider-status.ts'
import { sendRequest } from '../support/client.ts'
import { type ProviderA, rateA, startFormA } from '../support/form-a.ts'
import { type ProviderB, rateB, startFormB } from '../support/form-b.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { digits } from '../support/json.ts'
import { Place } from './place.ts'

let alpha: ProviderA
let beta: ProviderB
let directory: string

beforeAll(async () => {
  ;[alpha, beta] = [await startFormA(), await startFormB()]
  directory = mkdtempSync(join(tmpdir(), 'swapgate-providers-'))
})
afterAll(async () => {
  await Promise.all([alpha.close(), beta.close()])
  rmSync(directory, { recursive: true })
})

describe('without a gateway that runs', () => {
  it('status prints what the ledger has, and no figures', async () => {
    using place = new Place({ providers: [alpha, beta] })
    const report = await place.facts<StatusReport>('providers', 'status')
    expect(report).toMatchObject({ strategy: 'priority', replicas: 0, oldestSeconds: null, overrides: [] })
    expect(report.providers.map(({ name, state, isRouted, live }) => [name, state, isRouted, live])).toEqual([
      ['alpha', 'active', true, null],
      ['beta', 'active', false, null],
    ])
    const { out } = await place.swapgate('providers', 'status')
    expect(out[0]).toBe('Strategy priority; no gateway is running.')
    expect(out.join('\n')).toMatch(/^beta \(not routed\) +active/m)
  })

  it('status prints what the operator earns, by provider and by account', async () => {
    using place = new Place()
    const settings = { additional_fee_percent: '0.4' }
    const accountSettings = { acme: { additional_fee_percent: '1.25' }, friends: { additional_fee_percent: '' } }
    const url = 'http://127.0.0.1:1'
    const providers = {
      alpha: { form: 'stealthex', url, key: 'provider-key-1', settings, accountSettings },
      beta: { form: 'A', url, key: 'provider-key-1' },
    }
    place.write(`providers: ${JSON.stringify(providers)}\nrouting: { providers: [alpha] }\nauth: { mode: managed }\n`)
    const report = await place.facts<StatusReport>('providers', 'status')
    expect(report.providers[0]).toMatchObject({ settings, accountSettings })
    expect(Object.keys(report.providers[1] ?? {})).not.toContain('settings')
    const { out } = await place.swapgate('providers', 'status')
    expect(out.slice(4)).toEqual([
      'Settings of alpha: additional_fee_percent 0.4.',
      'Settings of alpha for acme: additional_fee_percent 1.25.',
      'Settings of alpha for friends: additional_fee_percent none.',
    ])
  })

  it('mirror prints that there is none', async () => {
    using place = new Place({ providers: [alpha, beta] })
    expect(await place.facts('providers', 'mirror')).toEqual({ replicas: 0, mirrors: [], shadows: [] })
  })

  it('diff compares assets, limits and quotes; 1 if the second lacks an asset', async () => {
    using place = new Place({ providers: [alpha, beta] })
    const before = beta.holdings.currencies
    const all = await place.facts<ProviderDiff>('providers', 'diff', 'alpha', 'beta', '--pairs', '3')
    expect(all.onlyFirst).toEqual([])
    expect(all.quotes).toHaveLength(3)
    for (const { deviation, errors } of all.quotes) expect([typeof deviation, errors]).toEqual(['number', []])
    const isEther = (row: unknown): boolean => (row as { code: string }).code === 'ETH'
    const off = { can_deposit: false, can_withdraw: false }
    for (const rows of [
      before.filter((row) => !isEther(row)),
      before.map((row) => (isEther(row) ? { ...(row as object), ...off } : row)),
    ]) {
      beta.holdings.currencies = rows
      const { exitCode, out } = await place.swapgate('providers', 'diff', 'alpha', 'beta', '--pairs', '0', '--json')
      expect([exitCode, JSON.parse(out.join('\n')).onlyFirst]).toEqual([1, [{ code: 'ETH', coin: 'ETH', network: 'ETH' }]])
    }
    beta.holdings.currencies = before
    expect([...alpha.received('create'), ...beta.received('create')]).toEqual([])
  })

  it('diff compares what the table lacks: 1 if the second lacks it, or has another coin under the word', async () => {
    using place = new Place({ providers: [alpha, beta] })
    const before = [alpha.holdings.currencies, beta.holdings.currencies]
    const row = (facts: object): object => ({ code: 'ZQX', name: 'Zeta', icon: 'https://icons.test/zqx.svg', notes: '', ...facts })
    const diff = async (first: object | undefined, second: object | undefined) => {
      for (const [at, provider] of [alpha, beta].entries()) {
        const own = [first, second][at]
        provider.holdings.currencies = [...(before[at] ?? []), ...(own ? [own] : [])]
      }
      const run = (...more: string[]) => place.swapgate('providers', 'diff', 'alpha', 'beta', '--pairs', '0', ...more)
      const { exitCode, out } = await run('--json')
      return { exitCode, ...(JSON.parse(out.join('\n')) as ProviderDiff).outsideTable, text: (await run()).out }
    }
    const zeta = { code: 'ZQX', network: 'ETH', name: 'Zeta', contract: null }
    const none = { onlyFirst: [], onlySecond: [], different: [] }
    expect(await diff(row({ network: 'ETH' }), row({}))).toMatchObject({ exitCode: 0, ...none })
    const lost = await diff(row({ network: 'ETH' }), undefined)
    expect(lost).toMatchObject({ exitCode: 1, ...none, onlyFirst: [zeta] })
    expect(lost.text).toContain('Outside of the table only alpha lists: ZQX on ETH.')
    expect(await diff(undefined, row({}))).toMatchObject({ exitCode: 0, ...none, onlySecond: [{ ...zeta, network: null }] })
    const other = await diff(row({ network: 'ETH' }), row({ name: 'Zebra' }))
    const different = [{ code: 'ZQX', first: [zeta], second: [{ ...zeta, network: null, name: 'Zebra' }] }]
    expect(other).toMatchObject({ exitCode: 1, ...none, different })
    expect(other.text).toContain('ZQX: Zeta ETH at alpha, Zebra at beta')
    ;[alpha.holdings.currencies, beta.holdings.currencies] = before as [readonly object[], readonly object[]]
  })

  it('diff finds an amount that both quote, and marks a pair as not compared where there is none', async () => {
    using place = new Place({ providers: [alpha, beta] })
    const limits = { alpha: { min: '1000', max: '0' }, beta: { min: '10', max: '5000' } }
    const amounts: string[] = []
    const outside = (amount: string, { min, max }: { min: string; max: string }): boolean => {
      amounts.push(amount)
      return Number(amount) < Number(min) || (max !== '0' && Number(amount) > Number(max))
    }
    const refuse = ({ min, max }: { min: string; max: string }) => ({
      status: 422,
      json: { message: 'The amount is outside the limits.', minAmount: digits(min), maxAmount: digits(max) },
    })
    const own = (limit: { min: string; max: string }) => ({ minAmount: digits(limit.min), maxAmount: digits(limit.max) })
    const reply = () => {
      alpha.reply('rate', ({ query }) =>
        outside(query.get('amount') ?? '', limits.alpha)
          ? refuse(limits.alpha)
          : { json: { ...rateA(query), ...own(limits.alpha) } },
      )
      beta.reply('rate', ({ query }) =>
        outside(query.get('amount') ?? '', limits.beta) ? refuse(limits.beta) : { json: { ...rateB(query), ...own(limits.beta) } },
      )
    }
    const compare = async () =>
      (await place.facts<ProviderDiff>('providers', 'diff', 'alpha', 'beta', '--pairs', '1')).quotes.map(
        ({ amount, outcome, deviation }) => [amount, outcome, typeof deviation],
      )
    reply()
    expect(await compare()).toEqual([['2000', 'compared', 'number']])
    limits.beta.max = '1500'
    expect(await compare()).toEqual([['1500', 'compared', 'number']])
    limits.beta.max = '500'
    expect((await compare())[0]?.slice(1)).toEqual(['notCompared', 'object'])
    limits.beta.max = '5000'
    alpha.reply('rate', ({ query }) =>
      outside(query.get('amount') ?? '', limits.alpha)
        ? { status: 400, json: { message: 'Too little. Minimum 1000, maximum 7000.' } }
        : { json: { ...rateA(query), ...own(limits.alpha) } },
    )
    expect(await compare()).toEqual([['2000', 'compared', 'number']])
    alpha.reset()
    beta.reset()
    beta.reply('rate', { status: 400, json: { message: 'This pair is not offered.' } })
    expect((await compare())[0]?.slice(1)).toEqual(['notCompared', 'object'])
    beta.reset()
  })

  it.each([
    [['diff', 'alpha', 'unknown'], 1, /alpha, beta/],
    [['diff', 'alpha'], 2, /missing required argument/],
    [['diff', 'alpha', 'beta', '--pairs', 'many'], 2, /number from 0 to 999/],
    [['nothing'], 2, /unknown command/],
  ])('%j ends with %i', async (args, code, message) => {
    using place = new Place({ providers: [alpha, beta] })
    const { exitCode, err } = await place.swapgate('providers', ...args)
    expect(exitCode).toBe(code)
    expect(err.join('\n')).toMatch(message)
  })
})

it('with two gateways on one ledger status and shadow add up what both count', async () => {
  await using open = new AsyncDisposableStack()
  const ledger = `sqlite:${join(directory, 'ledger.db')}`
  beta.reply('rate', ({ query }) => ({ json: { ...rateB(query), toAmount: digits('0.111111111111111110') } }))
  const start = (name: string): Promise<InProcessGateway> =>
    InProcessGateway.start({
      directory: mkdtempSync(join(directory, `${name}-`)),
      mode: 'managed',
      providers: {
        alpha: { form: 'A', url: alpha.url, key: 'provider-key-1' },
        beta: { form: 'B', url: beta.url, key: 'provider-key-1' },
      },
      ledger,
      sections: { cache: { rate: 0 }, routing: { providers: ['alpha'], mirror: { provider: 'beta', sample: 1 } } },
    })
  const gateways = [open.use(await start('one')), open.use(await start('two'))] as const
  for (const { url } of gateways) {
    for (let at = 0; at < 5; at++) await sendRequest(url, { path: `/a/api/v2/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1.${at}` })
  }
  const status = (): Promise<StatusReport> => gateways[0].command('providers', 'status') as Promise<StatusReport>
  await expect.poll(async () => (await status()).providers[0]?.live?.requests).toBe(10)
  const report = await status()
  expect(report.replicas).toBe(2)
  expect(report.oldestSeconds).toBeLessThan(30)
  const [first, second] = report.providers
  expect(first?.live).toMatchObject({ share: null, failedCalls: 0, breaker: {}, assets: expect.any(Number) })
  expect(first?.live?.calls).toBeGreaterThanOrEqual(10)
  expect(first?.live?.latencyMs.p95).toBeGreaterThan(0)
  expect(second?.live?.shadow).toMatchObject({ samples: 10, errors: 0 })
  const { shadows } = (await gateways[1].command('providers', 'shadow')) as { shadows: readonly MirrorFigures[] }
  expect(shadows[0]).toMatchObject({ provider: 'beta', samples: 10, pairs: [{ from: 'BTC', to: 'USDTTRC20', samples: 10 }] })
  expect((shadows[0]?.medianDeviation ?? 0) / -0.1).toBeCloseTo(1, 1)
  expect((shadows[0]?.p95Deviation ?? 0) / -0.1).toBeCloseTo(1, 1)
  await gateways[1].stop()
  expect((await status()).replicas).toBe(1)
})
