import { expect, it, test } from 'vitest'
import { contextOf, scripted } from '../../../test/support/service.ts'
import type { Amount } from '../../domain/amount.ts'
import { forwardedAddress } from '../../domain/call-options.ts'
import { valueIn } from '../../domain/context-values.ts'
import { clientAddressOf, clientNetworkOf, forwardAddress } from './client-address.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:0207', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::1', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['192.0.2.7:5000', '192.0.2.7'],
  ['[2001:db8::1]:5000', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::ffff:192.0.2.7%eth0', '192.0.2.7'],
  ['[fe80::1%eth0]:80', 'fe80:0:0:0'],
])('R6: %s stands for %s', (address, network) => {
  expect(clientNetworkOf(address)).toBe(network)
})

test('R6: two mapped IPv4 clients are two subjects', () => {
  expect(clientNetworkOf('::ffff:192.0.2.7')).not.toBe(clientNetworkOf('::ffff:192.0.2.8'))
})

test('R6: 65,536 addresses of one /64 are one subject, and 65,536 networks are as many', () => {
  const groups = Array.from({ length: 65_536 }, (_, at) => at.toString(16))
  expect(new Set(groups.map((group) => clientNetworkOf(`2001:db8:1:2::${group}`)))).toEqual(new Set(['2001:db8:1:2']))
  expect(new Set(groups.map((group) => clientNetworkOf(`2001:db8:1:${group}::1`))).size).toBe(65_536)
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:5000', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:0207', '192.0.2.7'],
  ['[2001:db8::1]:5000', '2001:db8::1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:6'],
  ['fe80::1%eth0', 'fe80::1'],
  ['', ''],
  ['unknown', 'unknown'],
])('%s is the address %s', (text, address) => {
  expect(clientAddressOf(text)).toBe(address)
})

const query = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: '1' as Amount, rateType: 'fixed' } as const

function rig() {
  const provider = scripted(() => ({ body: {} }))
  const needsFixed = (_: string, request: object): boolean => 'rateType' in request && request.rateType === 'fixed'
  const service = forwardAddress(needsFixed)(provider)
  return {
    provider,
    quote: (address: string, rateType: 'fixed' | 'float' = 'fixed') =>
      service.call('getRate', { ...query, rateType }, contextOf({ caller: { address } })),
  }
}

it.each([
  ['8.8.8.8', '8.8.8.8'],
  ['::ffff:8.8.8.8', '8.8.8.8'],
  ['8.8.8.8:5000', '8.8.8.8'],
  ['[2606:4700:4700::1111]:443', '2606:4700:4700::1111'],
])('the address of a client at %s goes on as %s, and the response is not cacheable', async (address, expected) => {
  const { provider, quote } = rig()
  expect(await quote(address)).toEqual({ body: {}, caching: { isForbidden: true } })
  expect(provider.calls.map(({ context }) => valueIn(context, forwardedAddress))).toEqual([expected])
})

it.each(['', '127.0.0.1', '::ffff:10.0.0.1', '10.0.0.1:80', '[fd00::1]:443', 'fe80::1%eth0', 'mirror'])(
  'a client at %j is refused, and nothing is called',
  async (address) => {
    const { provider, quote } = rig()
    await expect(quote(address)).rejects.toMatchObject({
      kind: 'invalid',
      reason: 'refused',
      effect: 'nothingSent',
      provider: undefined,
    })
    expect(provider.calls).toEqual([])
  },
)

it('a call that needs no address has none, for every caller', async () => {
  const { provider, quote } = rig()
  expect([await quote('10.0.0.1', 'float'), await quote('8.8.8.8', 'float')]).toEqual([{ body: {} }, { body: {} }])
  expect(provider.calls.map(({ context }) => valueIn(context, forwardedAddress))).toEqual([undefined, undefined])
})
