import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { workMs } from '../../test/support/work.ts'
import type { Amount } from './amount.ts'
import { Confidential } from './confidential.ts'
import { generalMessage, messageWithAmountRange, publicMessage } from './fault.ts'

const nothing = new Confidential({ keys: [], hosts: [], names: [] })
const names = new Confidential({ keys: [], hosts: ['pay-1'], names: ['alpha', 'b1'] })

describe('a provider’s message', () => {
  it.each([
    'Invalid amount parameter.',
    'Amount to exchange is below the possible min amount to exchange',
    'Minimum amount is 0.00007747 BTC, maximum 10.5 BTC',
    'USDT is not available on TRC20; please choose ERC20.',
    'Pair BTC/XMR is disabled',
    'Not on TRC20.Please choose ERC20.Thank you',
    'pay-10 is no host of ours',
    'Montant trop bas: réessayez',
    'The alphabet is no provider',
  ])('%j is passed on', (text) => {
    expect(publicMessage(text, names)).toBe(text)
  })

  it('that holds a key far behind its beginning is not shown in part', () => {
    const keys = new Confidential({ keys: ['secret-word-of-ours'], hosts: [], names: [] })
    expect(publicMessage(`${' '.repeat(990)}secret-word-of-ours`, keys)).toBe(generalMessage)
    expect(publicMessage(`No.${' '.repeat(990)}client-word-of-ours`, nothing, 'client-word-of-ours')).toBe(generalMessage)
    expect(publicMessage(`No.${' '.repeat(990)}Please ask again.`, keys)).toBe('No. Please')
  })

  it.each([
    ['a URL', 'See https://status.provider.example/incident'],
    ['a host', 'Upstream db-3.internal.example failed'],
    ['a host in mixed case', 'Ask Api.Host.Example.Com'],
    ['a short host in mixed case', 'Ask Example.Com'],
    ['a host and a short port', 'connect to swap-backend:80'],
    ['a configured host', 'PAY-1 does not answer'],
    ['localhost', 'connect ECONNREFUSED localhost:5432'],
    ['an IPv4 address', 'connect to 10.0.0.7 failed'],
    ['an IPv6 address', 'connect to fe80::1 failed'],
    ['a crypto address', 'Address TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE is not valid'],
    ['a hexadecimal address', 'Bad 0x00D283fFCb70F7b9A1d844e54A1AdE61E5443B6C'],
    ['a bearer token', 'Bearer abc123 is not known'],
    ['a key', 'api_key=k9 is not known'],
    ['a provider’s name', 'Alpha is under maintenance'],
    ['a provider’s tag', 'b1: try again'],
    ['nothing', ''],
    ['nothing to print', '\u0000\u200b\n'],
  ])('with %s is replaced', (_, text) => {
    expect(publicMessage(text, names)).toBe(generalMessage)
  })

  it('has at most 300 characters on one line, and none that is not printable', () => {
    const property = fc.property(fc.string({ unit: anyCharacter, maxLength: 600 }), (text) => {
      const message = publicMessage(text, nothing)
      expect([...message].length).toBeLessThanOrEqual(300)
      expect(message).not.toMatch(/[\p{Cc}\p{Cs}]/u)
      expect(message).not.toBe('')
    })
    fc.assert(property, { numRuns: 500 })
    expect(publicMessage('ab '.repeat(200), nothing)).toBe('ab '.repeat(100))
  })
})

it.each([
  ['letters', 'a'],
  ['labels', 'a.'],
  ['credentials', 'bearer='],
])('a message of 60 kB of %s does not block the event loop', async (_, unit) => {
  const text = unit.repeat(60_000 / unit.length)
  expect(await workMs(() => publicMessage(text, names))).toBeLessThan(250)
})

it.each([
  ['Too low', 'Too low. Minimum 1e-8, maximum 1.0e1.'],
  ['Too low.', 'Too low. Minimum 1e-8, maximum 1.0e1.'],
  ['Too low!', 'Too low! Minimum 1e-8, maximum 1.0e1.'],
  ['Too low?', 'Too low? Minimum 1e-8, maximum 1.0e1.'],
  ['Too low. Minimum 1e-8, maximum 1.0e1.', 'Too low. Minimum 1e-8, maximum 1.0e1.'],
])('the limits end the message %j once, in the provider’s digits', (message, expected) => {
  expect(messageWithAmountRange(message, { minAmount: '1e-8' as Amount, maxAmount: '1.0e1' as Amount })).toBe(expected)
})

it('a credential is never shown, whatever it is joined to', () => {
  for (const text of ['token=abcd_sesame', 'sesame', 'xsesamex is not known']) {
    expect(publicMessage(text, nothing, 'sesame')).toBe(generalMessage)
  }
  expect(publicMessage('please ask again', nothing, 'sesame')).toBe('please ask again')
})
