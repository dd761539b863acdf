/** Kysely: transactions that come while another is written are committed together, with one flush to the disk for all. */
import { setImmediate as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database, Priority, Store } from './store.ts'

/** What is written before other work of the process has its turn. */
const most = 32

interface Task {
  readonly since: number
  /** Answers what is to be done when it is committed. */
  readonly run: (within: Database) => Promise<() => void>
  readonly fail: (reason: unknown) => void
}

export interface GroupCommit {
  readonly commit: Store['write']
  /** How long the first without priority has waited, in milliseconds. */
  readonly waitMs: () => number
}

/** Each is kept whole or not at all, and ends as if it were alone; only one that fails for all, as on a full disk, fails all. */
export function groupCommit(database: Database): GroupCommit {
  const tasks: Tasks = { result: [], usual: [] }
  let isWriting = false
  const writeAll = async (): Promise<void> => {
    isWriting = true
    while (tasks.result.length + tasks.usual.length > 0) {
      await commit(database, tasks)
      await pause()
    }
    isWriting = false
  }
  return {
    commit: (work, priority = 'usual') =>
      new Promise((resolve, reject) => {
        const run = async (within: Database) => {
          const answer = await work(within)
          return () => resolve(answer)
        }
        tasks[priority].push({ run, fail: reject, since: performance.now() })
        if (!isWriting) void writeAll()
      }),
    waitMs() {
      const [first] = tasks.usual
      return first ? performance.now() - first.since : 0
    },
  }
}

type Tasks = Readonly<Record<Priority, Task[]>>

/** The next tasks, results first. */
function take({ result, usual }: Tasks, most: number): readonly Task[] {
  const results = result.splice(0, most)
  return [...results, ...usual.splice(0, most - results.length)]
}

/** Takes its tasks when it has the lock: while it waited there may have come more. */
async function commit(database: Database, tasks: Tasks): Promise<void> {
  let taken: readonly Task[] = []
  try {
    const ends = await database.transaction().execute((within) => {
      taken = take(tasks, most)
      return runEach(within, taken)
    })
    for (const end of ends) end()
  } catch (reason) {
    for (const { fail } of taken.length > 0 ? taken : take(tasks, Number.POSITIVE_INFINITY)) fail(reason)
  }
}

async function runEach(within: Database, tasks: readonly Task[]): Promise<readonly (() => void)[]> {
  const ends: (() => void)[] = []
  for (const { run, fail } of tasks) {
    await sql`savepoint task`.execute(within)
    try {
      ends.push(await run(within))
    } catch (reason) {
      await sql`rollback to task`.execute(within).catch(() => Promise.reject(reason))
      ends.push(() => fail(reason))
    }
    await sql`release task`.execute(within)
  }
  return ends
}
