/** The most that a timer takes; a deadline may be infinite. */
const maxTimerMs = 2_147_483_647

/** Settles as `work` does, or after `timeoutMs` with what `onTimeout` returns or throws. The work itself goes on. */
export async function withTimeout<Result, Late>(
  work: Promise<Result>,
  timeoutMs: number,
  onTimeout: () => Late,
): Promise<Result | Late> {
  const { promise, resolve } = Promise.withResolvers<typeof late>()
  const timer = setTimeout(resolve, Math.min(timeoutMs, maxTimerMs), late)
  try {
    const first = await Promise.race([work, promise])
    return first === late ? onTimeout() : first
  } finally {
    clearTimeout(timer)
  }
}

const late = Symbol('late')

/** What `work` gives within `timeoutMs`, else the default, also where it fails. */
export function withDefault<Result, Default>(
  work: Promise<Result>,
  timeoutMs: number,
  fallback: Default,
): Promise<Result | Default> {
  const safe = work.catch(() => fallback)
  return withTimeout(safe, timeoutMs, () => fallback)
}
