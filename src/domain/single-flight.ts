export interface SingleFlight<Args extends readonly unknown[], Result> {
  /** Concurrent calls share one result or failure. The arguments of the first call are used. */
  readonly run: (...args: Args) => Promise<Result>
  readonly isRunning: () => boolean
}

/** Runs `work` at most once at a time. */
export function singleFlight<Args extends readonly unknown[], Result>(
  work: (...args: Args) => Promise<Result>,
): SingleFlight<Args, Result> {
  let current: Promise<Result> | undefined
  return {
    run(...args) {
      current ??= work(...args).finally(() => {
        current = undefined
      })
      return current
    },
    isRunning: () => current !== undefined,
  }
}
