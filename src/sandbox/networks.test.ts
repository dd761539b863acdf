import { expect, test } from 'vitest'
import { hashKey } from '../adapters/crypto.ts'
import { depositAddress, networkOf, transactionHash } from './networks.ts'

test.each([
  ['BTC', /^bc1q[02-9ac-hj-np-z]{38}$/],
  ['ETH', /^0x[0-9a-f]{40}$/],
  ['TRX', /^T[1-9A-HJ-NP-Za-km-z]{33}$/],
  ['XRP', /^r[1-9A-HJ-NP-Za-km-z]{33}$/],
  ['XLM', /^G[A-Z2-7]{55}$/],
  ['XMR', /^8[1-9A-HJ-NP-Za-km-z]{94}$/],
  ['UNHEARD', /^0x[0-9a-f]{40}$/],
])('an address on %s looks like one', (network, shape) => {
  expect(depositAddress(networkOf(network), 'one', hashKey)).toMatch(shape)
})

test('a hash is that of one part of one swap', () => {
  const deposit = transactionHash(networkOf('ETH'), 'deposit', 'one', hashKey)
  expect(deposit).toMatch(/^0x[0-9a-f]{64}$/)
  expect(transactionHash(networkOf('ETH'), 'deposit', 'one', hashKey)).toBe(deposit)
  expect(transactionHash(networkOf('ETH'), 'payout', 'one', hashKey)).not.toBe(deposit)
  expect(transactionHash(networkOf('ETH'), 'deposit', 'two', hashKey)).not.toBe(deposit)
})
