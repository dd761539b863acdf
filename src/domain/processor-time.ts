/** node:async_hooks: for whom the process works where that may be long, so that its CPU time is counted (docs/faults.md, overload). */
import { AsyncLocalStorage } from 'node:async_hooks'

export type CountMicroseconds = (microseconds: number) => void

const current = new AsyncLocalStorage<CountMicroseconds>()

/** Whatever `work` does in pieces, at once or later, is counted by `count`. */
export function inPieces<Result>(count: CountMicroseconds, work: () => Result): Result {
  return current.run(count, work)
}

/** Work without a wait. Pieces do not contain each other. */
export function piece<Result>(work: () => Result): Result {
  const count = current.getStore()
  if (!count) return work()
  const before = process.threadCpuUsage()
  try {
    return work()
  } finally {
    const { user, system } = process.threadCpuUsage(before)
    count(user + system)
  }
}
