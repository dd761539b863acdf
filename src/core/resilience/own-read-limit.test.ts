import { expect, test } from 'vitest'
import { Fault } from '../../domain/fault.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import { ownReadLimit } from './budget-limit.ts'

const next = { call: async () => ({ body: { items: [], total: 0 } }) } as unknown as SwapService

function limited(limit: number) {
  let now = 0
  const service = ownReadLimit(limit, () => now)(next)
  const call = (identity?: string): Promise<unknown> =>
    service.call('getTransaction', { id: 'x' }, { caller: { address: '', identity } } as Context).then(
      () => 'passed',
      (reason) => Fault.from(reason),
    )
  const wait = (ms: number): void => {
    now += ms
  }
  return { call, wait }
}

test.each([
  [120, 60],
  [5, 3],
  [1, 1],
])('L26: of a budget of %i, own reads use %i in any 60 seconds', async (limit, share) => {
  const { call, wait } = limited(limit)
  for (let at = 0; at < share; at++) expect(await call()).toBe('passed')
  wait(20_000)
  expect(await call()).toMatchObject({ kind: 'unavailable', effect: 'refused', unavailableCause: 'budget', retryAfter: 40 })
  wait(39_999)
  expect(await call()).toMatchObject({ kind: 'unavailable', retryAfter: 1 })
  wait(1)
  expect(await call()).toBe('passed')
})

test('each key has its own share if each has its own budget', async () => {
  const { call } = limited(2)
  expect(await call('one')).toBe('passed')
  expect(await call('one')).toBeInstanceOf(Fault)
  expect(await call('two')).toBe('passed')
})

test('a provider without a budget has no share', async () => {
  const { call } = limited(0)
  for (let at = 0; at < 500; at++) expect(await call()).toBe('passed')
})
