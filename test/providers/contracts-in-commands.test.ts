/** docs/contract.md §16, docs/contract-operators.md §12: what commands show of a token that a provider has under another contract. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { TrialReport } from '../../src/cli/providers/try.ts'
import type { AssetCheck } from '../../src/core/operations/asset-check.ts'
import type { ProviderDiff } from '../../src/core/operations/provider-diff.ts'
import { Place } from '../cli/place.ts'
import { configured, documented } from './documented.ts'
import { type RunningExchange, startExchange } from './stand-ins/exchange.ts'

const ours = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const other = '0x7F5c764cBc14f9669B88837ca1490cCa17c31607'
const usdt = { code: 'USDTERC20', coin: 'USDT', network: 'ETH' }

let exchanges: Readonly<Record<'exolix' | 'changenow', RunningExchange>>
beforeEach(async () => {
  exchanges = {
    exolix: await startExchange(documented.exolix.dialect),
    changenow: await startExchange(documented.changenow.dialect),
  }
})
afterEach(() => Promise.all(Object.values(exchanges).map((exchange) => exchange.end())))

/** Exolix has another token than the table. */
function place(provider: object = {}): Place {
  const own = new Place()
  exchanges.exolix.tamper = (operation, reply) =>
    operation === 'currencies'
      ? { ...reply, json: JSON.parse(JSON.stringify(reply.json).replaceAll(ours.toLowerCase(), other)) }
      : undefined
  for (const exchange of Object.values(exchanges)) exchange.key = documented[exchange.dialect.name as 'exolix'].key
  const providers = Object.fromEntries(
    (['exolix', 'changenow'] as const).map((name) => [
      name,
      { form: name, url: exchanges[name].url, ...configured(documented[name]), ...(name === 'exolix' && provider) },
    ]),
  )
  const sections = { auth: { mode: 'managed' }, ledger: { url: own.ledgerUrl }, routing: { providers: ['exolix', 'changenow'] } }
  writeFileSync(own.file, JSON.stringify({ ...sections, providers }))
  copyFileSync('config/assets.yaml', join(own.directory, 'assets.yaml'))
  return own
}

it('assets check: the row contradicts, with both contracts, and the exit code is 1', async () => {
  using own = place()
  const { exitCode, out } = await own.swapgate('assets', 'check', 'exolix', '--json')
  const { contradictions, missing } = JSON.parse(out.join('\n')) as AssetCheck
  expect(exitCode).toBe(1)
  const listed = { coin: 'USDT', network: 'ETH', contract: other }
  expect(contradictions).toEqual([{ what: 'contract', listed, table: [{ ...usdt, contract: ours }] }])
  expect(missing).toContainEqual(usdt)
  expect((await own.swapgate('assets', 'check', 'exolix')).out).toContain(
    `Contradicts the table: USDT on ETH is the token ${other}; in the table USDTERC20 (USDT on ETH) is ${ours}. It is not offered.`,
  )
})

it('assets check: a contract that the configuration accepts does not contradict', async () => {
  using own = place({ assets: { USDTERC20: { contract: other } } })
  const { exitCode, out } = await own.swapgate('assets', 'check', 'exolix', '--json')
  expect([exitCode, (JSON.parse(out.join('\n')) as AssetCheck).contradictions]).toEqual([0, []])
})

it.each([
  ['the asset is missing at one of both', {}],
  ['both have the asset, and clients would get another token', { assets: { USDTERC20: { contract: other } } }],
])('providers diff: the contracts of both, and the exit code is 1, where %s', async (_, provider) => {
  using own = place(provider)
  const { exitCode, out } = await own.swapgate('providers', 'diff', 'exolix', 'changenow', '--pairs', '0', '--json')
  const { contracts } = JSON.parse(out.join('\n')) as ProviderDiff
  expect(contracts).toEqual([{ ...usdt, first: other, second: ours.toLowerCase() }])
  expect(exitCode).toBe(1)
  const shown = (await own.swapgate('providers', 'diff', 'exolix', 'changenow', '--pairs', '0')).out
  expect(shown).toContain(`USDTERC20: the token ${other} at exolix, ${ours.toLowerCase()} at changenow`)
})

it('providers try: the asset is not among those that are offered, and the report has both contracts', async () => {
  using own = place()
  const { out } = await own.swapgate('providers', 'try', 'exolix', '--json')
  const { checks } = JSON.parse(out.join('\n')) as TrialReport
  const { assets, message } = checks.find(({ check }) => check === 'assets') ?? {}
  expect(assets).not.toContain('USDTERC20')
  expect(message).toContain(`another contract than the table's, so not offered: USDTERC20 (${other} in the place of ${ours})`)
  const deviations = checks.flatMap((check) => check.deviations)
  expect(deviations).toContainEqual({ field: '_other', drift: 'contradictingContract', count: 1 })
})
