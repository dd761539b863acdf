import { expect, it } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, type Scripted, scripted } from '../../../test/support/service.ts'
import type { Amount } from '../../domain/amount.ts'
import { Fault } from '../../domain/fault.ts'
import type { Context } from '../../domain/service.ts'
import type { RateQuery } from '../../domain/swap.ts'
import { quoteCache } from './quote-cache.ts'

interface Rig {
  readonly provider: Scripted
  readonly getQuote: (overrides?: Partial<RateQuery>, context?: Partial<Context>) => Promise<unknown>
  readonly advance: (ms: number) => void
}

const rateQuery = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: '1' as Amount, rateType: 'float' } as const

/** Returns the number of the call as the amount received. */
function rig(lifetimeMs: number, respond?: (call: number, request: RateQuery) => unknown): Rig {
  let now = 0
  const respondWithRate = (call: number, request: RateQuery): unknown => ({
    body: { ...request, amountOut: `${call + 1}` },
    provider: 'alpha',
  })
  const provider = scripted((call, { request }) => (respond ?? respondWithRate)(call, request as RateQuery))
  const service = quoteCache(providerScope({ cache: { rate: lifetimeMs / 1000 }, clock: () => now }))(provider)
  return {
    provider,
    getQuote: (overrides = {}, context = {}) =>
      service.call('getRate', { ...rateQuery, ...overrides } as RateQuery, contextOf(context)).catch((reason) => reason),
    advance: (ms) => {
      now += ms
    },
  }
}

const amountOut = (amount: string): object => ({ body: { amountOut: amount } })

it('a rate is shared for its lifetime with its age; then it is requested again', async () => {
  const { getQuote, advance, provider } = rig(2_000)
  expect(await getQuote()).not.toHaveProperty('caching')
  advance(1_999)
  expect(await getQuote()).toMatchObject({ ...amountOut('1'), caching: { ageSeconds: 1.999 }, provider: 'alpha' })
  advance(1)
  expect(await getQuote()).toMatchObject(amountOut('2'))
  expect(provider.calls).toHaveLength(2)
})

it('a rate that no cache of a client may keep stays one', async () => {
  const { getQuote } = rig(2_000, (_, request) => ({ body: { ...request, amountOut: '1' }, caching: { isForbidden: true } }))
  await getQuote()
  expect(await getQuote()).toMatchObject({ caching: { isForbidden: true, ageSeconds: 0 } })
})

it('M18: another request has another response, whichever field differs', async () => {
  const { getQuote, provider } = rig(2_000)
  const pair = (words: object): Partial<Context> => ({ pair: words })
  const differentRequests: readonly (readonly [Partial<RateQuery>, Partial<Context>?])[] = [
    [{}],
    [{ codeFrom: 'ETH', codeTo: 'BTC' }],
    [{ codeFrom: undefined, coinFrom: 'BTC' }],
    [{ networkFrom: 'BTC' }],
    [{ networkTo: 'BTC' }],
    [{ amountIn: '1.0000000000000000001' as Amount }],
    [{ rateType: 'fixed' }],
    [{}, pair({ codeFrom: 'BTC' })],
    [{}, pair({ networkFrom: 'BTC' })],
  ]
  const first = await Promise.all(differentRequests.map(([overrides, context]) => getQuote(overrides, context)))
  expect(new Set(first.map((respond) => JSON.stringify(respond))).size).toBe(differentRequests.length)
  expect(await Promise.all(differentRequests.map(([overrides, context]) => getQuote(overrides, context)))).toMatchObject(
    first as object[],
  )
  expect(provider.calls).toHaveLength(differentRequests.length)
})

it('amounts are compared by value, and each caller gets the digits of its own request', async () => {
  const { getQuote, provider } = rig(2_000)
  const spellings = ['1', '1.0', '1.00', '10e-1', '1']
  const quotes = await Promise.all(spellings.map((amountIn) => getQuote({ amountIn: amountIn as Amount })))
  expect(quotes).toMatchObject(spellings.map((amountIn) => ({ body: { amountIn, amountOut: '1' } })))
  expect(provider.calls).toHaveLength(1)
})

it('an amount that the provider changed is returned unchanged', async () => {
  const { getQuote } = rig(2_000, (_, request) => ({ body: { ...request, amountIn: '0.9', amountOut: '1' } }))
  await getQuote()
  expect(await getQuote({ amountIn: '1.0' as Amount })).toMatchObject({ body: { amountIn: '0.9' } })
})

it('with a lifetime of 0 only concurrent requests share a response', async () => {
  const { getQuote, provider } = rig(0)
  await Promise.all([getQuote(), getQuote(), getQuote()])
  expect(provider.calls).toHaveLength(1)
  await getQuote()
  expect(provider.calls).toHaveLength(2)
})

it('M18: a failure goes to all callers that wait for it, and is not cached', async () => {
  const { getQuote, provider } = rig(2_000, (call) => {
    if (call === 0) throw new Fault('failed', 'no')
    return amountOut('7')
  })
  const failed = await Promise.all([getQuote(), getQuote(), getQuote()])
  expect(failed).toMatchObject(failed.map(() => ({ kind: 'failed' })))
  expect(await getQuote()).toMatchObject(amountOut('7'))
  expect(provider.calls).toHaveLength(2)
})

it.each([undefined, '0', '0.00'])('M18: a response with %s to receive is not cached', async (none) => {
  const { getQuote, provider } = rig(2_000, (_, request) => ({ body: { ...request, amountOut: none, message: 'too little' } }))
  await getQuote()
  await getQuote()
  expect(provider.calls).toHaveLength(2)
})

it('a caller that shares a pending request waits only until its own deadline', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const { getQuote } = rig(2_000, () => promise)
  const first = getQuote()
  expect(await getQuote({}, { deadline: performance.now() + 5 })).toMatchObject({ kind: 'timedOut' })
  resolve(amountOut('7'))
  expect(await first).toMatchObject(amountOut('7'))
})

it('memory is bounded: of very many requests some are sent again', async () => {
  const { getQuote, provider } = rig(60_000)
  for (let n = 0; n <= 10_000; n++) await getQuote({ codeTo: `C${n}` })
  await getQuote({ codeTo: 'C0' })
  expect(provider.calls).toHaveLength(10_002)
  await getQuote({ codeTo: 'C10000' })
  expect(provider.calls).toHaveLength(10_002)
})

it('a quote of an amount to receive is shared by its value, and not with one of that amount sent', async () => {
  const { provider, getQuote } = rig(1_000, (_, request) => ({ body: { amountIn: '3', amountOut: '5', ...request } }))
  const received = (amountOut: string) => getQuote({ amountIn: undefined, amountOut: amountOut as Amount } as Partial<RateQuery>)
  expect(await received('5')).toMatchObject({ body: { amountOut: '5' } })
  expect(await received('5.0')).toMatchObject({ body: { amountOut: '5.0' } })
  await getQuote({ amountIn: '5' as Amount })
  expect(provider.calls).toHaveLength(2)
})
