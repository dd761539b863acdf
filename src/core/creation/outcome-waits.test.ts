import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { PreferredWait } from '../../domain/call-options.ts'
import type { IdempotencyKeyState } from '../ports/ledger.ts'
import { OutcomeWaits } from './outcome-waits.ts'

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

type Open = Extract<IdempotencyKeyState, { readonly state: 'open' }>
const open: Open = {
  intent: 'i',
  fingerprint: 'f',
  state: 'open',
  provider: 'alpha',
  isRunning: false,
  isBeingChecked: true,
  nextCheckAt: 15_000,
}
const done = { state: 'mismatch', intent: 'i' } as IdempotencyKeyState
const wish = (seconds: number, mayWait = () => true): PreferredWait => ({ seconds, mayWait, isApplied: false })

/** `find`: what the ledger says of a key. */
function start(find: (key: string) => Promise<IdempotencyKeyState | undefined>) {
  const findIdempotencyKey = vi.fn((_owner: string, key: string) => find(key))
  const waits = new OutcomeWaits({ findIdempotencyKey }, new Map([['alpha', 10_000]]))
  let ended = 0
  const wait = (owner: string, key: string, wished: PreferredWait | undefined, state = open) => {
    const newest = waits.newest(owner, key, state, wished)
    void newest.then(() => ended++)
    return newest
  }
  return { wait, ended: () => ended, finds: () => findIdempotencyKey.mock.calls.length }
}

it('all that wait under one key share one look every 250 ms', async () => {
  let state: IdempotencyKeyState = open
  const { wait, ended, finds } = start(async () => state)
  const waiting = Array.from({ length: 10 }, () => wait('acme', 'order', wish(10)))
  await vi.advanceTimersByTimeAsync(1_000)
  expect([finds(), ended()]).toEqual([4, 0])
  state = done
  await vi.advanceTimersByTimeAsync(250)
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => done))
  await vi.advanceTimersByTimeAsync(1_000)
  expect([finds(), vi.getTimerCount()]).toEqual([5, 0])
})

it('no wait is longer than the timeout of the provider', async () => {
  const { wait, ended } = start(async () => open)
  void wait('acme', 'order', wish(60))
  await vi.advanceTimersByTimeAsync(9_750)
  expect(ended()).toBe(0)
  await vi.advanceTimersByTimeAsync(500)
  expect(ended()).toBe(1)
  const applied = wish(60)
  expect(await wait('acme', 'order', applied, { ...open, provider: 'gone' })).toEqual({ ...open, provider: 'gone' })
  expect(applied.isApplied).toBe(false)
})

it('a client that has gone away waits no longer, and others go on', async () => {
  let isThere = true
  const { wait, ended } = start(async () => open)
  void wait(
    'acme',
    'order',
    wish(10, () => isThere),
  )
  void wait('acme', 'order', wish(10))
  isThere = false
  await vi.advanceTimersByTimeAsync(250)
  expect(ended()).toBe(1)
})

it('one that comes in the moment in which the last one ends waits for itself', async () => {
  const { wait, ended } = start(async () => open)
  const comesAndGoes = (): boolean => {
    queueMicrotask(() => void wait('acme', 'order', wish(1)))
    return false
  }
  void wait('acme', 'order', wish(10, comesAndGoes))
  await vi.advanceTimersByTimeAsync(250)
  expect(ended()).toBe(1)
  await vi.advanceTimersByTimeAsync(1_250)
  expect([ended(), vi.getTimerCount()]).toEqual([2, 0])
})

it('while the ledger fails or is silent, what is known stays', async () => {
  const answers = [() => Promise.reject(new Error('lost')), () => new Promise<never>(() => {}), async () => done]
  const { wait, ended } = start(() => answers.shift()?.() ?? Promise.resolve(done))
  const waiting = wait('acme', 'order', wish(10))
  await vi.advanceTimersByTimeAsync(1_500)
  expect(ended()).toBe(0)
  await vi.advanceTimersByTimeAsync(500)
  expect(await waiting).toEqual(done)
})

it('at most 20 wait for an identity and 100 in all; a place is free again once one has ended', async () => {
  let state: IdempotencyKeyState = open
  const { wait, ended } = start(async () => state)
  const apply = (owner: string, key: string): boolean => {
    const wished = wish(10)
    void wait(owner, key, wished)
    return wished.isApplied
  }
  const applied = (owner: string) => Array.from({ length: 21 }, (_, at) => apply(owner, `order-${at}`)).filter(Boolean).length
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map(applied)).toEqual([20, 20, 20, 20, 20, 0])
  state = done
  await vi.advanceTimersByTimeAsync(250)
  expect(ended()).toBe(6 * 21)
  expect(apply('f', 'order')).toBe(true)
})
