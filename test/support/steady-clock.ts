import { onTestFinished, vi } from 'vitest'

/** The clock of `performance.now()` goes on by so many milliseconds, until the test is over. Timers do not. */
export function passSteadyTime(ms: number): void {
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + ms)
  onTestFinished(() => clock.mockRestore())
}
