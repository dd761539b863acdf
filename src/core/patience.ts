/** A timer takes no infinity, which a deadline may be. */
const longestWait = 60_000

/** What the work gives if it comes within so many milliseconds, else `otherwise`; the work goes on. */
export async function soonOr<T, O>(work: Promise<T>, otherwise: O, within: number): Promise<T | O> {
  const { promise, resolve } = Promise.withResolvers<T | O>()
  const timer = setTimeout(resolve, Math.min(within, longestWait), otherwise)
  work.then(resolve, () => resolve(otherwise))
  const first = await promise
  clearTimeout(timer)
  return first
}
