import { expect, it } from 'vitest'
import { contextOf, type Scripted, scripted } from '../../test/support/service.ts'
import type { Amount } from '../domain/amount.ts'
import { Fault } from '../domain/fault.ts'
import type { Context } from '../domain/operations.ts'
import type { RateQuery } from '../domain/swap.ts'
import { rates } from './rates.ts'

interface Rig {
  readonly provider: Scripted
  readonly ask: (facts?: Partial<RateQuery>, context?: Partial<Context>) => Promise<unknown>
  readonly pass: (milliseconds: number) => void
}

const question = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: '1' as Amount, rateType: 'float' } as const

/** Answers with the number of the call as the amount received. */
function rig(lifetime: number, answer?: (call: number, request: RateQuery) => unknown): Rig {
  let now = 0
  const told = (call: number, request: RateQuery): unknown => ({
    body: { ...request, amountOut: `${call + 1}` },
    provider: 'alpha',
  })
  const provider = scripted((call, { request }) => (answer ?? told)(call, request as RateQuery))
  const service = rates({ lifetime, clock: () => now, observe: () => {} })(provider)
  return {
    provider,
    ask: (facts = {}, context = {}) =>
      service.call('getRate', { ...question, ...facts }, contextOf(context)).catch((reason) => reason),
    pass: (milliseconds) => {
      now += milliseconds
    },
  }
}

const amountOut = (amount: string): object => ({ body: { amountOut: amount } })

it('a rate is shared for its lifetime and tells its age; then it is asked for anew', async () => {
  const { ask, pass, provider } = rig(2_000)
  expect(await ask()).not.toHaveProperty('age')
  pass(1_999)
  expect(await ask()).toMatchObject({ ...amountOut('1'), age: 1.999, provider: 'alpha' })
  pass(1)
  expect(await ask()).toMatchObject(amountOut('2'))
  expect(provider.asked).toHaveLength(2)
})

it('M18: another question is another answer, in whatever it differs', async () => {
  const { ask, provider } = rig(2_000)
  const pair = (words: object): Partial<Context> => ({ pair: words })
  const others: readonly (readonly [Partial<RateQuery>, Partial<Context>?])[] = [
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
  const first = await Promise.all(others.map(([facts, context]) => ask(facts, context)))
  expect(new Set(first.map((answer) => JSON.stringify(answer))).size).toBe(others.length)
  expect(await Promise.all(others.map(([facts, context]) => ask(facts, context)))).toMatchObject(first as object[])
  expect(provider.asked).toHaveLength(others.length)
})

it('amounts are compared by value, and each caller gets back the digits that he asked with', async () => {
  const { ask, provider } = rig(2_000)
  const lexemes = ['1', '1.0', '1.00', '10e-1', '1']
  const told = await Promise.all(lexemes.map((amountIn) => ask({ amountIn: amountIn as Amount })))
  expect(told).toMatchObject(lexemes.map((amountIn) => ({ body: { amountIn, amountOut: '1' } })))
  expect(provider.asked).toHaveLength(1)
})

it('an amount that the provider changed is told as the provider told it', async () => {
  const { ask } = rig(2_000, (_, request) => ({ body: { ...request, amountIn: '0.9', amountOut: '1' } }))
  await ask()
  expect(await ask({ amountIn: '1.0' as Amount })).toMatchObject({ body: { amountIn: '0.9' } })
})

it('with a lifetime of 0 only those share who ask while it is on its way', async () => {
  const { ask, provider } = rig(0)
  await Promise.all([ask(), ask(), ask()])
  expect(provider.asked).toHaveLength(1)
  await ask()
  expect(provider.asked).toHaveLength(2)
})

it('M18: a failure is told to all who wait for it, and is not kept', async () => {
  const { ask, provider } = rig(2_000, (call) => {
    if (call === 0) throw new Fault('failed', 'no')
    return amountOut('7')
  })
  const failed = await Promise.all([ask(), ask(), ask()])
  expect(failed).toMatchObject(failed.map(() => ({ kind: 'failed' })))
  expect(await ask()).toMatchObject(amountOut('7'))
  expect(provider.asked).toHaveLength(2)
})

it.each([undefined, '0', '0.00'])('M18: an answer with %s to receive is not kept: it is about this moment', async (none) => {
  const { ask, provider } = rig(2_000, (_, request) => ({ body: { ...request, amountOut: none, message: 'too little' } }))
  await ask()
  await ask()
  expect(provider.asked).toHaveLength(2)
})

it('nobody waits for the one who asked first beyond his own deadline', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const { ask } = rig(2_000, () => promise)
  const first = ask()
  expect(await ask({}, { deadline: performance.now() + 5 })).toMatchObject({ kind: 'timedOut' })
  resolve(amountOut('7'))
  expect(await first).toMatchObject(amountOut('7'))
})

it('memory is bounded: of very many questions some are asked for anew', async () => {
  const { ask, provider } = rig(60_000)
  for (let n = 0; n <= 10_000; n++) await ask({ codeTo: `C${n}` })
  await ask({ codeTo: 'C0' })
  expect(provider.asked).toHaveLength(10_002)
  await ask({ codeTo: 'C10000' })
  expect(provider.asked).toHaveLength(10_002)
})
