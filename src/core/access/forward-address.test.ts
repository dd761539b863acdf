import { expect, it } from 'vitest'
import { contextOf, scripted } from '../../../test/support/service.ts'
import type { Amount } from '../../domain/amount.ts'
import { forwardAddress } from './client-address.ts'

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
  expect(await quote(address)).toEqual({ body: {}, isUncacheable: true })
  expect(provider.calls.map(({ context }) => context.forwardedAddress)).toEqual([expected])
})

it.each(['', '127.0.0.1', '::ffff:10.0.0.1', '10.0.0.1:80', '[fd00::1]:443', 'fe80::1%eth0', 'shadow'])(
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
  expect(provider.calls.map(({ context }) => context.forwardedAddress)).toEqual([undefined, undefined])
})
