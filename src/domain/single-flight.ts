export interface SingleFlight<Args extends readonly unknown[], Result> {
  /** Calls made while one is under way share its result, or its failure; the arguments of the first count. */
  readonly run: (...args: Args) => Promise<Result>
  readonly isRunning: () => boolean
}

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
