/** The largest delay of a timer in Node. A deadline may be infinite. */
export const maxTimerMs = 2_147_483_647

/** Settles like `work`, or after `timeoutMs` with the result of `onTimeout`. The work itself is not cancelled. */
export async function withTimeout<Result, Late>(
  work: Promise<Result>,
  timeoutMs: number,
  onTimeout: () => Late,
): Promise<Result | Late> {
  const { promise, resolve } = Promise.withResolvers<typeof late>()
  const timer = setTimeout(resolve, Math.min(Math.max(timeoutMs, 0), maxTimerMs), late)
  try {
    const first = await Promise.race([work, promise])
    return first === late ? onTimeout() : first
  } finally {
    clearTimeout(timer)
  }
}

const late = Symbol('late')

/** The result of `work` within `timeoutMs`; `fallback` if it is late or fails. Never rejects. */
export function withDefault<Result, Default>(
  work: Promise<Result>,
  timeoutMs: number,
  fallback: Default,
): Promise<Result | Default> {
  const safe = work.catch(() => fallback)
  return withTimeout(safe, timeoutMs, () => fallback)
}
