/**
 * Keeps the first result of `work` for all later calls; calls that wait at the same time share one run. A failure is not kept: the next
 * call tries again.
 */
export function memoize<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => {
    result ??= work().catch((reason) => {
      result = undefined
      throw reason
    })
    return result
  }
}
