/** docs/contract-operators.md §12: `swapgate providers try --strict --markdown`, with a provider over a real socket. Nothing is ever created. */

import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { TrialReport } from '../../src/cli/providers/try.ts'
import { type ProviderA, rateA, startFormA, transactionA } from '../support/form-a.ts'
import { digits } from '../support/json.ts'
import { swap } from '../support/swaps.ts'
import { Place } from './place.ts'

let alpha: ProviderA
const xrp = { code: 'XRP', name: 'XRP', icon: 'https://icons.test/xrp.svg', network: 'XRP', depositMin: 5, depositMax: 500000 }

beforeAll(async () => {
  alpha = await startFormA()
  alpha.holdings.currencies = [...alpha.holdings.currencies, xrp]
})
afterEach(() => {
  alpha.reset()
  alpha.holdings.swaps = []
  expect(alpha.received('create')).toEqual([])
})
afterAll(() => alpha.close())

const tooLittle = {
  error: 'Bad Request',
  message: 'Too | little, `sorry` *anna*.',
  code: 400,
  minAmount: digits('0.001'),
  maxAmount: digits('1000'),
}

/** Refuses less than its minimum, as `rateA` says it. */
function refuseTooLittle(): void {
  alpha.reply('rate', ({ query }) =>
    Number(query.get('amount') ?? 1) < 0.001 ? { status: 400, json: tooLittle } : { json: rateA(query) },
  )
}

class StrictPlace extends Place {
  constructor(settings: object = {}) {
    super()
    const provider = { form: 'A', url: alpha.url, key: 'provider-key-1', amountTo: true, extraIds: true, ...settings }
    const sections = { auth: { mode: 'managed' }, ledger: { url: this.ledgerUrl }, routing: { providers: ['alpha'] } }
    writeFileSync(this.file, JSON.stringify({ ...sections, assets: resolve('config/assets.yaml'), providers: { alpha: provider } }))
  }

  async report(): Promise<{ readonly exitCode: number; readonly report: TrialReport }> {
    const { exitCode, out } = await this.swapgate('providers', 'try', 'alpha', '--strict', '--json')
    return { exitCode, report: JSON.parse(out.join('\n')) as TrialReport }
  }
}

function checkOf({ checks }: TrialReport, name: string) {
  return checks.find(({ check }) => check === name)
}

it('a provider without any deviation is exit 0: both directions, less than the minimum, memo coins, statuses, and a get of each', async () => {
  using place = new StrictPlace()
  refuseTooLittle()
  alpha.holdings.swaps = [
    swap({ id: 'tx-1', status: 'success' }),
    swap({ id: 'tx-2', status: 'wait' }),
    swap({ id: 'tx-3', status: 'wait' }),
  ]
  const { exitCode, report } = await place.report()
  expect(report.checks.flatMap(({ deviations }) => deviations)).toEqual([])
  expect([exitCode, report.works]).toEqual([0, true])
  const { message: received = '' } = checkOf(report, 'float received') ?? {}
  expect(received).toBe('0.123456789012345678 ETH from BTC needs 0.10, minimum 0.001, maximum 1e3')
  expect(alpha.received('rate').some(({ query }) => query.get('amountTo') === '0.123456789012345678')).toBe(true)
  for (const type of ['float', 'fixed'])
    expect(checkOf(report, `${type} minimum`)?.message).toMatch(/^0\.0005 BTC to ETH is refused: "Too \| little.*minimum 0\.001/)
  expect(checkOf(report, 'memo coins')?.message).toMatch(/^XRP are listed; 10 XRP to BTC gives .*, .* BTC to XRP gives /)
  expect(checkOf(report, 'statuses')?.message).toMatch(
    /^in its list: success 1, wait 2; in the ledger: none; not seen yet: (?!.*(?:success|wait))/,
  )
  expect(checkOf(report, 'gets')).toMatchObject({ outcome: 'works', message: '2 of 3, one for each status' })
})

it('one member that the form does not have is exit 1, and is no failure without --strict', async () => {
  using place = new StrictPlace()
  refuseTooLittle()
  const row = swap({ id: 'tx-1' })
  alpha.holdings.swaps = [row]
  alpha.reply('get', ({ path }) =>
    path.endsWith('tx-1') ? { json: { ...transactionA(row), mood: 'good' } } : { status: 404, json: {} },
  )
  const { exitCode, report } = await place.report()
  expect([exitCode, report.works]).toEqual([1, false])
  expect(checkOf(report, 'gets')?.deviations).toEqual([{ field: '_other', name: 'mood', drift: 'unknownField', count: 1 }])
  expect((await place.swapgate('providers', 'try', 'alpha')).exitCode).toBe(0)
})

it.each([
  [
    'a quote of less than the minimum',
    'float minimum',
    (query: URLSearchParams) => ({ json: rateA(query) }),
    /must be refused: the quote gives/,
  ],
  [
    'an amount received that is not the one that was asked for',
    'float received',
    (query: URLSearchParams) =>
      query.has('amountTo')
        ? { json: { ...rateA(query), amountTo: digits('0.2') } }
        : Number(query.get('amount')) < 0.001
          ? { status: 400, json: tooLittle }
          : { json: rateA(query) },
    /the quote gives 0\.2$/,
  ],
] as const)('%s is exit 1', async (_, check, answer, message) => {
  using place = new StrictPlace()
  alpha.reply('rate', ({ query }) => answer(query))
  const { exitCode, report } = await place.report()
  expect(exitCode).toBe(1)
  expect(checkOf(report, check)).toMatchObject({ outcome: 'fails', message: expect.stringMatching(message) })
})

it('a word for a status that the form does not have is exit 1, and is named', async () => {
  using place = new StrictPlace()
  refuseTooLittle()
  alpha.reply('list', () => ({
    json: { data: [{ ...transactionA(swap({ id: 'tx-1' })), status: 'on_ice' }], pagination: { page: 1, size: 1, total: 1 } },
  }))
  const { exitCode, report } = await place.report()
  expect(exitCode).toBe(1)
  expect(checkOf(report, 'statuses')).toMatchObject({ outcome: 'fails', message: expect.stringContaining('unknown 1') })
  expect(checkOf(report, 'statuses')?.deviations).toEqual([{ field: 'status', name: 'on_ice', drift: 'unknownStatus', count: 1 }])
})

it('--markdown prints a table of the checks and one of the deviations, in which no text of the provider is markup', async () => {
  using place = new StrictPlace()
  refuseTooLittle()
  alpha.reply('currencies', () => ({
    json: {
      data: alpha.holdings.currencies.map((row) => Object.assign({ slip_page: 1 }, row)),
      pagination: { page: 1, size: 50, total: 6 },
    },
  }))
  const { exitCode, out } = await place.swapgate('providers', 'try', 'alpha', '--strict', '--markdown')
  expect(exitCode).toBe(1)
  expect(out[0]).toBe(`# \`alpha (form A) at ${new URL(alpha.url).origin}\``)
  expect(out[2]).toBe('| Check | Operation | Outcome | What was seen | Deviations |')
  const rows = out.filter((line) => line.startsWith('|'))
  expect(rows.find((line) => line.startsWith('| currencies | listCurrencies | works |'))).toMatch(/\| 6 \|$/)
  expect(rows.find((line) => line.startsWith('| float minimum |'))).toMatch(
    /^\| float minimum \| getRate \| works \| `[^`|]*\\\| little, 'sorry' \*anna\*\.[^`]*` \| 0 \|$/,
  )
  expect(rows).toContain('| currencies | `slip_page` | the form does not have it | 6 |')
  expect(out.at(-1)).toBe('Everything works at alpha. Deviations from the form: 1.')
  expect((await place.swapgate('providers', 'try', 'alpha', '--markdown', '--json')).exitCode).toBe(2)
})
