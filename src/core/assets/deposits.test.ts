import { expect, test } from 'vitest'
import { contextOf, scripted } from '../../../test/support/service.ts'
import { AssetTable } from '../../domain/asset.ts'
import { createAssetNaming } from './asset-naming.ts'
import { omitImpossibleDeposits } from './deposits.ts'

const naming = createAssetNaming(new AssetTable([]), { byCode: true }, [])
const one = 'rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY'

test.each([
  ['the withdrawal address', { withdrawalAddress: one }, {}, undefined],
  ['the refund address', { refundAddress: one, refundExtraId: '7' }, { depositExtraId: '7' }, undefined],
  ['the refund address with another memo', { refundAddress: one, refundExtraId: '7' }, { depositExtraId: '8' }, one],
  ['no address of the swap', { withdrawalAddress: 'other' }, {}, one],
])('a deposit address that is %s is shown as %o', async (_, places, memo, shown) => {
  const row = { id: 'tx-1', depositAddress: one, ...places, ...memo }
  const provider = scripted(() => ({ body: row }))
  const { body } = await omitImpossibleDeposits(naming, true)(provider).call('getTransaction', { id: 'tx-1' }, contextOf())
  expect(body.depositAddress).toBe(shown)
})
