import { expect, it } from 'vitest'
import { contextOf, scripted } from '../../../test/support/service.ts'
import { toAmount } from '../../domain/amount.ts'
import { Fault } from '../../domain/fault.ts'
import type { NewTransaction } from '../../domain/swap.ts'
import { QuoteFailures } from './quote-failures.ts'

const request = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: toAmount('1'), rateType: 'float' } as NewTransaction

function rig() {
  let now = 1_000
  const table = { find: () => undefined, byCode: () => undefined, coin: () => undefined }
  const failures = new QuoteFailures({ table: table as never, clock: () => now, timeoutMs: 10_000 })
  const quote = async (result: Fault | object, identity: string, leftMs = 10_000): Promise<void> => {
    const service = scripted(() => (result instanceof Fault ? Promise.reject(result) : result))
    const context = contextOf({ caller: { address: '192.0.2.1', identity }, deadline: performance.now() + leftMs })
    await failures
      .watch({ tag: 'alpha', service })
      .service.call('getRate', request, context)
      .catch(() => {})
  }
  const isFailing = (identity: string): boolean =>
    failures.isFailing('alpha', request, contextOf({ caller: { address: '198.51.100.1', identity } }))
  const pass = (ms: number): void => {
    now += ms
  }
  return { quote, isFailing, pass }
}

const failed = new Fault('failed', 'no')

it('counts a failure for ten seconds: for its account, and for all once there are two', async () => {
  const { quote, isFailing, pass } = rig()
  await quote(failed, 'acme')
  expect([isFailing('acme'), isFailing('other')]).toEqual([true, false])
  await quote(failed, 'acme')
  expect(isFailing('other')).toBe(false)
  pass(6_000)
  await quote(failed, 'globex')
  expect(isFailing('other')).toBe(true)
  pass(4_000)
  expect([isFailing('acme'), isFailing('globex'), isFailing('other')]).toEqual([false, true, false])
  pass(6_000)
  expect(isFailing('globex')).toBe(false)
})

it('is forgotten with a fresh answer, and not with one out of a cache', async () => {
  const { quote, isFailing } = rig()
  await quote(failed, 'acme')
  await quote({ body: {}, caching: { ageSeconds: 1.2 } }, 'globex')
  expect(isFailing('acme')).toBe(true)
  await quote({ body: {} }, 'globex')
  expect(isFailing('acme')).toBe(false)
})

it.each([
  ['a refusal', new Fault('invalid', 'no', { provider: 'alpha' }), 10_000, false],
  ['a spent budget', new Fault('unavailable', 'no', { effect: 'nothingSent', unavailableCause: 'budget' }), 10_000, false],
  ['a time-out', new Fault('timedOut', 'no'), 5_000, true],
  ['a time-out without time', new Fault('timedOut', 'no'), 1_000, false],
  ['no connection', new Fault('unreachable', 'no', { effect: 'nothingSent' }), 10_000, true],
  ['an answer that cannot be read', new Fault('unreadable', 'no'), 10_000, true],
  ['a caller whose calls alone fail', new Fault('unavailable', 'no', { unavailableCause: 'caller' }), 10_000, true],
])('%s counts or not', async (_, fault, leftMs, counts) => {
  const { quote, isFailing } = rig()
  await quote(fault, 'acme', leftMs)
  expect([isFailing('acme'), isFailing('other')]).toEqual([counts, false])
})

it('goes by an open breaker at once, for all', async () => {
  const { quote, isFailing } = rig()
  await quote(new Fault('unavailable', 'no', { effect: 'nothingSent', unavailableCause: 'breaker' }), 'acme')
  expect(isFailing('other')).toBe(true)
})
