import { afterEach, expect, it, vi } from 'vitest'
import { ReplyTimeouts } from './script-deadline.ts'

const never = (): Promise<never> => new Promise(() => {})

afterEach(() => void vi.useRealTimers())

it('waits 160 to 200 ms', async () => {
  vi.useFakeTimers()
  const callers = new ReplyTimeouts()
  const failures: number[] = []
  for (const start of [0, 30, 49]) {
    await vi.advanceTimersByTimeAsync(start)
    const begin = performance.now()
    callers.wait(never).catch(() => failures.push(performance.now() - begin))
  }
  await vi.advanceTimersByTimeAsync(300)
  expect(failures).toEqual([200, 170, 161])
  expect(vi.getTimerCount()).toBe(0)
})

it('accepts a reply that arrived while this process was paused', async () => {
  const callers = new ReplyTimeouts()
  const reply = callers.wait(() => new Promise((resolve) => setImmediate(() => setTimeout(resolve, 1, 'reply'))))
  for (const until = performance.now() + 400; performance.now() < until; );
  await expect(reply).resolves.toBe('reply')
})

it('shows whether the caller still waits', async () => {
  vi.useFakeTimers()
  const callers = new ReplyTimeouts()
  const waitingReplies: { isOver: boolean }[] = []
  const reply = callers.wait((waiting) => {
    waitingReplies.push(waiting)
    return never()
  })
  const failed = expect(reply).rejects.toThrow('Redis does not answer.')
  expect(waitingReplies[0]?.isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(240)
  await failed
  expect(waitingReplies[0]?.isOver).toBe(true)
})
