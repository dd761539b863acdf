/** docs/contract.md §3, §16: an amount that is worked out of two is exact, and never more than the provider shows nor below 0. */
import { expect, it } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { type Rig, startRig } from './rig.ts'

async function withFee(networkFee: unknown): Promise<Rig> {
  const rig = await startRig('changelly')
  rig.exchange.tamper = (operation, { json }) => {
    const { result, ...rest } = json as { readonly result: unknown }
    if (operation === 'quote') return { json: { ...rest, result: [{ ...(result as object[])[0], amountTo: '100', networkFee }] } }
    return operation === 'create' ? { json: { ...rest, result: { ...(result as object), networkFee } } } : undefined
  }
  return rig
}

it.each(['-5', '-0.000000000000000001', '100.5', '1e9'])('P19: a fee of %s is not of the form', async (fee) => {
  await using rig = await withFee(fee)
  expectRefusal(await rig.quote('B'), 'B', 502)
  expectRefusal(await rig.create('B'), 'B', 504, 'outcome_unknown')
})

it.each([
  ['0.000000000000000001', '99.999999999999999999'],
  ['0', '100'],
  ['1e-8', '99.99999999'],
  ['100', '0'],
])('P19: a fee of %s leaves %s', async (fee, amount) => {
  await using rig = await withFee(fee)
  expect((await rig.quote('B')).json).toMatchObject({ toAmount: digits(amount) })
})
