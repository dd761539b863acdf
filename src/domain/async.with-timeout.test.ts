import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { withDefault, withTimeout } from './async.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = new Promise<never>(() => {})

it('settles like the work, and leaves no timer behind', async () => {
  expect(await withTimeout(Promise.resolve(1), 100, () => 2)).toBe(1)
  await expect(withTimeout(Promise.reject(new Error('broken')), 100, () => 2)).rejects.toThrow('broken')
  expect(vi.getTimerCount()).toBe(0)
})

it('after the timeout it returns or throws the result of onTimeout', async () => {
  const given = withTimeout(never, 100, () => 'late')
  const thrown = withTimeout(never, 100, () => {
    throw new Error('too late')
  }).catch(({ message }) => message)
  await vi.advanceTimersByTimeAsync(100)
  expect([await given, await thrown]).toEqual(['late', 'too late'])
})

it('an infinite time is no timeout', async () => {
  const result = withTimeout(new Promise((resolve) => setTimeout(resolve, 100_000, 'done')), Number.POSITIVE_INFINITY, () => 'late')
  await vi.advanceTimersByTimeAsync(100_000)
  expect(await result).toBe('done')
})

it('the default replaces late work and failed work', async () => {
  const late = withDefault(never, 100, 'default')
  const failed = withDefault(Promise.reject(new Error('broken')), 100, 'default')
  await vi.advanceTimersByTimeAsync(100)
  expect([await late, await failed]).toEqual(['default', 'default'])
})
