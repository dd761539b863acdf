import { expect, test } from 'vitest'
import { secretsIn } from './leak-check.ts'
import { startPair } from './pair.ts'

const segwit = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'

test.each([
  ['{"key":"canary-client-key-1"}', 'canary-client-key-1'],
  ['authorization: Bearer own-key-1', 'own-key-1'],
  [`sg_live_${'a'.repeat(32)}000000 was refused`, `sg_live_${'a'.repeat(32)}000000`],
  ['0xCaNaRy0WithdrawalAddress0a1b2c3d4e5f6a7b', '0xCaNaRy0WithdrawalAddress0a1b2c3d4e5f6a7b'],
  ['to TWithdraw1, please', 'TWithdraw1'],
  ['0xWithdraw7', '0xWithdraw7'],
  ['"withdraw-12"', 'withdraw-12'],
  ['refund-4', 'refund-4'],
  [`deposit at ${segwit}`, segwit],
])('O1: in %s would be found %s', (text, secret) => {
  expect(secretsIn(text)).toEqual([secret])
})

test('O1: a refusal has nothing that would be found', async () => {
  const { client, close } = await startPair('A', 'B')
  const { status, text } = await client.post('/transactions', { withdrawalAddress: 'TWithdraw1', refundAddress: 'refund-1' })
  await close()
  expect([status, secretsIn(text)]).toEqual([400, []])
})
