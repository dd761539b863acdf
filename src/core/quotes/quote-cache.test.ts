import { expect, it } from 'vitest'
import { contextOf, type Scripted, scripted } from '../../../test/support/service.ts'
import type { Amount } from '../../domain/amount.ts'
import { Fault } from '../../domain/faults/fault.ts'
import type { Context } from '../../domain/swap/service.ts'
import type { RateQuery } from '../../domain/swap/swap.ts'
import { quoteCache } from './quote-cache.ts'

interface Rig {
  readonly provider: Scripted
  readonly getQuote: (overrides?: Partial<RateQuery>, context?: Partial<Context>) => Promise<unknown>
  readonly advance: (ms: number) => void
}

const rateQuery = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: '1' as Amount, rateType: 'float' } as const

/** Answers with the number of the call as the amount received. */
function rig(lifetimeMs: number, respond?: (call: number, request: RateQuery) => unknown): Rig {
  let now = 0
  const respondWithRate = (call: number, request: RateQuery): unknown => ({
    body: { ...request, amountOut: `${call + 1}` },
    provider: 'alpha',
  })
  const provider = scripted((call, { request }) => (respond ?? respondWithRate)(call, request as RateQuery))
  const service = quoteCache({ lifetimeMs, clock: () => now, observe: () => {} })(provider)
  return {
    provider,
    getQuote: (overrides = {}, context = {}) =>
      service.call('getRate', { ...rateQuery, ...overrides }, contextOf(context)).catch((reason) => reason),
    advance: (ms) => {
      now += ms
    },
  }
}

const amountOut = (amount: string): object => ({ body: { amountOut: amount } })

it('a rate is shared for its lifetime and tells its age; then it is asked for anew', async () => {
  const { getQuote, advance, provider } = rig(2_000)
  expect(await getQuote()).not.toHaveProperty('age')
  advance(1_999)
  expect(await getQuote()).toMatchObject({ ...amountOut('1'), ageSeconds: 1.999, provider: 'alpha' })
  advance(1)
  expect(await getQuote()).toMatchObject(amountOut('2'))
  expect(provider.calls).toHaveLength(2)
})

it('M18: another question is another answer, in whatever it differs', async () => {
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

it('amounts are compared by value, and each caller gets back the digits that he asked with', async () => {
  const { getQuote, provider } = rig(2_000)
  const spellings = ['1', '1.0', '1.00', '10e-1', '1']
  const quotes = await Promise.all(spellings.map((amountIn) => getQuote({ amountIn: amountIn as Amount })))
  expect(quotes).toMatchObject(spellings.map((amountIn) => ({ body: { amountIn, amountOut: '1' } })))
  expect(provider.calls).toHaveLength(1)
})

it('an amount that the provider changed is told as the provider told it', async () => {
  const { getQuote } = rig(2_000, (_, request) => ({ body: { ...request, amountIn: '0.9', amountOut: '1' } }))
  await getQuote()
  expect(await getQuote({ amountIn: '1.0' as Amount })).toMatchObject({ body: { amountIn: '0.9' } })
})

it('with a lifetime of 0 only those share who ask while it is on its way', async () => {
  const { getQuote, provider } = rig(0)
  await Promise.all([getQuote(), getQuote(), getQuote()])
  expect(provider.calls).toHaveLength(1)
  await getQuote()
  expect(provider.calls).toHaveLength(2)
})

it('M18: a failure is told to all who wait for it, and is not kept', async () => {
  const { getQuote, provider } = rig(2_000, (call) => {
    if (call === 0) throw new Fault('failed', 'no')
    return amountOut('7')
  })
  const failed = await Promise.all([getQuote(), getQuote(), getQuote()])
  expect(failed).toMatchObject(failed.map(() => ({ kind: 'failed' })))
  expect(await getQuote()).toMatchObject(amountOut('7'))
  expect(provider.calls).toHaveLength(2)
})

it.each([undefined, '0', '0.00'])('M18: an answer with %s to receive is not kept: it is about this moment', async (none) => {
  const { getQuote, provider } = rig(2_000, (_, request) => ({ body: { ...request, amountOut: none, message: 'too little' } }))
  await getQuote()
  await getQuote()
  expect(provider.calls).toHaveLength(2)
})

it('nobody waits for the one who asked first beyond his own deadline', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const { getQuote } = rig(2_000, () => promise)
  const first = getQuote()
  expect(await getQuote({}, { deadline: performance.now() + 5 })).toMatchObject({ kind: 'timedOut' })
  resolve(amountOut('7'))
  expect(await first).toMatchObject(amountOut('7'))
})

it('memory is bounded: of very many questions some are asked for anew', async () => {
  const { getQuote, provider } = rig(60_000)
  for (let n = 0; n <= 10_000; n++) await getQuote({ codeTo: `C${n}` })
  await getQuote({ codeTo: 'C0' })
  expect(provider.calls).toHaveLength(10_002)
  await getQuote({ codeTo: 'C10000' })
  expect(provider.calls).toHaveLength(10_002)
})
