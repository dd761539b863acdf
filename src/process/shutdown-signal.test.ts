import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { untilShutdownSignal } from './shutdown-signal.ts'

const events = ['SIGTERM', 'SIGINT', 'SIGHUP', 'unhandledRejection', 'uncaughtException'] as const
const others = events.map((event) => process.listeners(event as 'SIGTERM'))

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  for (const event of events) process.removeAllListeners(event)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  for (const [at, event] of events.entries()) {
    process.removeAllListeners(event)
    for (const listener of others[at] ?? []) process.on(event as 'SIGTERM', listener)
  }
})

test('a second signal ends the process at once, but not the same one passed on by npm', async () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
  const abandon = vi.fn(async () => {})
  const ended = untilShutdownSignal(
    () => {},
    () => {},
    abandon,
  )
  process.emit('SIGINT')
  expect(await ended).toBe(0)
  vi.advanceTimersByTime(500)
  process.emit('SIGINT')
  expect(abandon).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  process.emit('SIGTERM')
  await vi.waitFor(() => expect(exit).toHaveBeenCalledWith(1))
  expect(abandon).toHaveBeenCalledOnce()
})
