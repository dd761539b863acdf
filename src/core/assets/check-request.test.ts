import { expect, test } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, scripted } from '../../../test/support/service.ts'
import type { Amount } from '../../domain/amount.ts'
import { AssetTable } from '../../domain/asset.ts'
import { promisedAmounts } from '../../domain/call-options.ts'
import { valueIn, withValue } from '../../domain/context-values.ts'
import type { NewTransaction } from '../../domain/swap.ts'
import { checkAddress, checkAmount } from './check-request.ts'

const usdt = { code: 'USDTTRC20', coin: 'USDT', name: 'Tether', network: 'TRX', isDefault: true, aliases: [], decimals: 0 }
const table = new AssetTable([{ coin: 'USDT', name: 'Tether', assets: [usdt] }])
const routing = { maxDeviation: 0, refuseDeviation: false, roundAmounts: 'down' } as const
const pair = { codeFrom: 'USDTTRC20', coinFrom: 'USDT', networkFrom: 'TRX' }

test.each([
  ['2.5', '100', '2', '80'],
  ['2', '100', '2', '100'],
  ['2.5', undefined, '2', undefined],
])('of %s, quoted at %s, %s is sent and compared with %s', async (amountIn, quoted, sent, compared) => {
  const provider = scripted(() => ({ body: {} }))
  const service = checkAmount(providerScope({ table, routing }))(provider)
  const context = withValue(contextOf({ pair }), promisedAmounts, { quotedAmount: quoted as Amount | undefined })
  await service.call('createTransaction', { amountIn } as NewTransaction, context)
  const [call] = provider.calls
  expect(call?.request).toEqual({ amountIn: sent })
  expect(valueIn(call?.context ?? {}, promisedAmounts).quotedAmount).toBe(compared)
})

const contract = 'CA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAXE'
const monero = '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A'

test.each([
  ['a contract of Stellar', 'XLM', contract, 'memo'],
  ['Monero', 'XMR', monero, 'ab'.repeat(32)],
])('a memo for %s, which takes none, is refused whatever the table has', async (_, coin, address, extraId) => {
  const asset = { code: coin, coin, name: coin, network: coin, isDefault: true, aliases: [] }
  const ask = checkAddress(new AssetTable([{ coin, name: coin, assets: [asset] }]), [])
  expect((await ask({ code: coin, address })).body.isValid).toBe(true)
  expect((await ask({ code: coin, address, extraId })).body.complaints).toEqual([
    { field: 'extraId', reason: 'memo_invalid', message: 'no transaction to this address carries a memo: leave it out' },
  ])
})
