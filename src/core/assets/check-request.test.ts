import { expect, test } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, scripted } from '../../../test/support/service.ts'
import type { Amount } from '../../domain/amount.ts'
import { AssetTable } from '../../domain/asset.ts'
import type { NewTransaction } from '../../domain/swap.ts'
import { checkAmount } from './check-request.ts'

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
  const context = contextOf({ pair, quotedAmount: quoted as Amount | undefined })
  await service.call('createTransaction', { amountIn } as NewTransaction, context)
  const [call] = provider.calls
  expect(call?.request).toEqual({ amountIn: sent })
  expect(call?.context.quotedAmount).toBe(compared)
})
