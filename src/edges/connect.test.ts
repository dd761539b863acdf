import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { roaming } from '../../test/forward-address/roaming.ts'
import { callProvider } from '../../test/golden-providers/connected.ts'
import { changenow } from '../forms/changenow.ts'
import { stealthex } from '../forms/stealthex.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const pair = { coinFrom: 'BTC', networkFrom: 'MAINNET', coinTo: 'XMR', networkTo: 'MAINNET' }
const request = { op: 'getRate', key: undefined, fields: { ...pair, amountIn: '1', rateType: 'float' } } as const
const never = new Promise<never>(() => {})

it.each([
  [200, '{"estimated_amount":2}', { body: { amountOut: '2' } }],
  [400, '{"err":{"kind":"InvalidAmount","details":"Too little"}}', { fault: { kind: 'invalid', reason: 'refused' } }],
])('a response with status %i waits a second for the limits, not for ever', async (status, body, expected) => {
  const result = callProvider(stealthex, request, {}, ({ path }) =>
    path === '/rates/range' ? never : { status, headers: {}, body },
  )
  await vi.advanceTimersByTimeAsync(1_000)
  expect((await result).outcome).toMatchObject(expected)
})

it('a refusal that is not about the amount does not wait for the limits', async () => {
  const refused = { status: 401, headers: {}, body: '{}' }
  const { outcome } = await callProvider(stealthex, request, {}, ({ path }) => (path === '/rates/range' ? never : refused))
  expect(outcome).toMatchObject({ fault: { kind: 'unauthorized' } })
})

it('a call that carries the address of the client is not sent without one', async () => {
  const fields = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: '1', rateType: 'fixed' }
  const { sent, outcome } = await callProvider(roaming, { ...request, fields }, {}, () => never, {})
  expect(sent).toEqual([])
  expect(outcome).toMatchObject({ fault: { kind: 'invalid', reason: 'refused', effect: 'nothingSent' } })
})

it.each(['listTransactions', 'listCurrencies'] as const)(
  "a 404 to the gateway's own %s has failed, which says nothing about the provider's health",
  async (op) => {
    const read = { op, key: undefined, fields: { page: 1, size: 1 } }
    const missing = { status: 404, headers: {}, body: '{}' }
    const { outcome } = await callProvider(changenow, read, {}, () => missing, { isGatewayCall: true })
    expect(outcome).toMatchObject({ fault: { kind: 'failed', effect: 'refused' } })
  },
)
