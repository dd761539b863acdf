/** What a client may see of a provider's texts (docs/contract.md §6, docs/contract-operators.md §8). */
import { afterEach, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, ownKeys, startManaged } from '../support/managed.ts'
import { type FormName, formNames } from '../support/pair.ts'

let managed: Managed
afterEach(() => managed.close())

const rateB = { fromAmount: 1, toAmount: 2, rate: 2, minAmount: 1, maxAmount: 10 }
const quote = (form: FormName): string =>
  form === 'A'
    ? '/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1'
    : '/rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=1'

const words = [
  ownKeys.alpha,
  ownKeys.beta.toUpperCase(),
  'swap-backend:80 is down',
  'Ask Api.Host.Example.Com',
  'beta is closed',
  '127.0.0.1 is closed',
]

test.each(words)('V18: a refusal with %j is general', async (message) => {
  managed = await startManaged({ routing: ['beta'] })
  for (const form of formNames) {
    managed.beta.reply('rate', { status: 400, json: { message, code: 400 } })
    const response = await managed.client(form).get(quote(form), { key: null })
    expect(expectRefusal(response, form, 400)).toBe('The request was refused; please check its parameters.')
  }
})

test.each([ownKeys.alpha, ownKeys.alpha.toUpperCase(), 'beta is closed', '127.0.0.1:9101 is slow'])(
  'V18: a 200 with the message %j is a quote without it',
  async (message) => {
    managed = await startManaged({ routing: ['beta'] })
    managed.beta.reply('rate', { json: { ...rateB, message } })
    const response = await managed.client('B').get(quote('B'), { key: null })
    expect([response.status, (response.json as { message: unknown }).message]).toEqual([200, null])
    managed.beta.reply('rate', { json: { ...rateB, toAmount: 0, message } })
    const refused = await managed.client('A').get(quote('A'), { key: null })
    expect(expectRefusal(refused, 'A', 400)).toBe('The request was refused; please check its parameters.')
  },
)

test('V18: a message without any of these is passed on', async () => {
  managed = await startManaged({ routing: ['beta'] })
  managed.beta.reply('rate', { json: { ...rateB, message: 'Rates move fast today' } })
  const response = await managed.client('B').get(quote('B'), { key: null })
  expect(response.json).toMatchObject({ message: 'Rates move fast today' })
})

test('V19: a response with a key of the configuration in another text is rejected', async () => {
  managed = await startManaged({ routing: ['beta'] })
  const key = await managed.issue()
  managed.beta.reply('create', {
    json: {
      id: 'tx-9',
      status: 'wait',
      coin_from: 'BTC',
      coin_to: 'USDT',
      amount_in: 0.1,
      amount_out_expected: 1,
      rate_type: 'float',
      deposit_address: `bc1q${ownKeys.alpha.toUpperCase()}`,
      withdrawal_address: 'TWithdraw1',
      created_at: '2026-01-01T00:00:00Z',
    },
  })
  const response = await managed.client('A').post('/transactions', orderIn('A'), { key })
  expectRefusal(response, 'A', 504)
  expect(response.text.toLowerCase()).not.toContain(ownKeys.alpha)
})
