/** docs/contract.md §10: the provider's own words are compared before the table's, at every form of a provider. */
import { describe, expect, it } from 'vitest'
import { assetFromResponse } from '../../src/core/assets/asset-from-response.ts'
import { createAssetNaming } from '../../src/core/assets/asset-naming.ts'
import { assetNameOf, from, pairOf, to, withAssetNames } from '../../src/core/assets/pair.ts'
import { compareCreate, discrepanciesOf } from '../../src/core/same-swap.ts'
import type { Amount } from '../../src/domain/amount.ts'
import { AssetTable } from '../../src/domain/swap/asset.ts'
import { namesByCode } from '../../src/domain/swap/capabilities.ts'
import type { Transaction } from '../../src/domain/swap/swap.ts'
import { providerForms } from '../../src/forms/index.ts'

const asset = (code: string, coin: string, network: string, aliases: readonly string[] = []) => ({
  code,
  coin,
  network,
  aliases,
  name: coin,
  isDefault: false,
})
const table = new AssetTable([
  { coin: 'BTC', name: 'Bitcoin', assets: [asset('BTC', 'BTC', 'BTC')] },
  {
    coin: 'USDT',
    name: 'Tether',
    assets: [asset('USDTTRC20', 'USDT', 'TRX', ['TRON']), asset('USDTERC20', 'USDT', 'ETH')],
  },
])
const stored: Transaction = {
  id: 'tx-1',
  status: 'wait',
  codeFrom: 'BTC',
  coinFrom: 'BTC',
  networkFrom: 'BTC',
  codeTo: 'USDTTRC20',
  coinTo: 'USDT',
  networkTo: 'TRX',
  amountIn: '1' as Amount,
  createdAt: '2026-03-01T10:00:00Z',
  withdrawalAddress: '0xAbCd',
  withdrawalExtraId: '42',
  depositAddress: 'deposit-1',
  depositExtraId: '7',
  refundAddress: 'refund-1',
  refundExtraId: '8',
  rateType: 'float',
}

describe('an edit of the asset table makes no other swap of what a provider reports in its own words', () => {
  const attemptedAt = Date.parse('2026-03-01T10:00:00Z')
  const tron = (facts: Partial<ReturnType<typeof asset>> = {}, coin = 'USDT') => ({
    coin,
    name: 'Tether',
    assets: [{ ...asset('USDTTRC20', coin, 'TRX', ['TRC20']), ...facts }, asset('USDTERC20', coin, 'ETH')],
  })
  const bitcoin = { coin: 'BTC', name: 'Bitcoin', assets: [asset('BTC', 'BTC', 'BTC')] }
  const edits = {
    'a renamed network': new AssetTable([bitcoin, tron({ network: 'TRON', aliases: ['TRX', 'TRC20'] })]),
    'a renamed network without an alias': new AssetTable([bitcoin, tron({ network: 'TRON', aliases: [] })]),
    'a renamed code': new AssetTable([bitcoin, tron({ code: 'USDTTRX' })]),
    'a renamed coin': new AssetTable([bitcoin, tron({ coin: 'USDT0' }, 'USDT0')]),
    'a cut network': new AssetTable([bitcoin, { ...tron(), assets: [asset('USDTERC20', 'USDT', 'ETH')] }]),
    'a cut coin': new AssetTable([bitcoin]),
  }
  const cases = providerForms.flatMap((form) =>
    Object.entries(edits).map(([edit, after]) => [form.name, edit, form, after] as const),
  )

  it.each(cases)('of form %s: %s', (_, __, form, after) => {
    const { networks, capabilities } = form
    const byCode = namesByCode(capabilities)
    const listsNetworks = byCode || capabilities.responseFields.listCurrencies.has('network')
    const namingBy = (own: AssetTable, cut: readonly string[] = []) =>
      createAssetNaming(own, { byCode, listsNetworks, ...(networks && { networks }) }, [
        ...Object.entries(form.assets),
        ...cut.map((code) => [code, null] as const),
      ])
    const before = namingBy(table)
    const words = (own: AssetTable, code: string) => before.nameFor(own.byCode(code) as never) ?? {}
    const sent = withAssetNames({}, words(table, 'BTC'), words(table, 'USDTTRC20'))
    const { amountIn, rateType } = stored
    const requested = { ...pairOf(stored), amountIn, withdrawalAddress: 'T1', rateType: rateType ?? 'float' }
    for (const now of [namingBy(after), namingBy(table, ['USDTTRC20'])]) {
      const translated = (side: typeof from) => assetFromResponse(assetNameOf(sent, side), now, 'unreadable') ?? {}
      const reported = {
        ...withAssetNames({ ...requested, id: 'tx-1', createdAt: '2026-03-01T10:00:01Z' }, translated(from), translated(to)),
        ownAssets: sent,
      }
      expect(compareCreate([reported], { requested, sent, attemptedAt }, { naming: now })).toBe('match')
      expect(discrepanciesOf({ transaction: { ...stored, withdrawalAddress: 'T1' }, sent }, reported, now.table)).toEqual({
        rejected: [],
        accepted: [],
      })
    }
  })
})
