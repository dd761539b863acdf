import { beforeEach, expect, it } from 'vitest'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { JudgementKind } from '../../domain/telemetry/labels.ts'
import type { Observation } from '../../domain/telemetry/observation.ts'
import { Suspensions } from './suspensions.ts'

const btc = { codeFrom: 'BTC' }
let now: number
let observations: Observation[]
let suspensions: Suspensions
beforeEach(() => {
  now = 1_000
  observations = []
  suspensions = new Suspensions({ provider: 'alpha', clock: () => now, observe: (one) => observations.push(one) })
})

const refuse = (...kinds: readonly JudgementKind[]): void => {
  for (const kind of kinds) suspensions.judged(btc, [kind], 'BTC')
}
const takes = async (pair: object): Promise<boolean> => {
  const service = suspensions.layer({ call: async () => ({}) } as unknown as SwapService)
  const context = { pair } as unknown as Context
  const calls = (['getRate', 'createTransaction'] as const).map((op) => service.call(op, {} as never, context))
  const [quote, create] = await Promise.allSettled(calls)
  expect(quote?.status).toBe(create?.status)
  if (create?.status === 'rejected') expect(create.reason).toMatchObject({ kind: 'unavailable', mayFailOver: true, noEffect: true })
  return create?.status === 'fulfilled'
}

it('three mismatches of one kind in a row take that asset out for ten minutes', async () => {
  refuse('depositAddress', 'depositAddress')
  expect(await takes(btc)).toBe(true)
  refuse('depositAddress')
  expect([await takes(btc), await takes({ codeFrom: 'ETH' })]).toEqual([false, true])
  expect(observations).toEqual([{ what: 'suspended', provider: 'alpha', kind: 'depositAddress', network: 'BTC' }])
  now += 600_000
  expect(await takes(btc)).toBe(true)
})

it('mismatches of several kinds, and a create between that passed, do not', async () => {
  refuse('depositAddress', 'amount', 'depositAddress', 'amount')
  expect(await takes(btc)).toBe(true)
  suspensions.judged(btc, [], 'BTC')
  refuse('depositAddress')
  expect(await takes(btc)).toBe(true)
})
