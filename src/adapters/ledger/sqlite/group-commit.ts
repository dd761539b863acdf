/** Kysely: commits concurrent transactions together, with one flush to the disk. */
import { setImmediate as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database, Priority, Write } from '../database.ts'

/** The number of tasks per commit, so that other work of the process is not blocked for long. */
export const maxPerCommit = 32

interface Task {
  readonly since: number
  /** Returns what to do after the commit. */
  readonly run: (within: Database) => Promise<() => void>
  readonly fail: (reason: unknown) => void
}

export interface GroupCommit {
  readonly commit: Write
  /** How long the first task without priority has waited. */
  readonly waitMs: () => number
}

/** Each task commits or fails on its own. Only an error of the whole commit, such as a full disk, fails all tasks. */
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
          const result = await work(within)
          return () => resolve(result)
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
function takeTasks({ result, usual }: Tasks, maxPerCommit: number): readonly Task[] {
  const results = result.splice(0, maxPerCommit)
  return [...results, ...usual.splice(0, maxPerCommit - results.length)]
}

/** Takes the tasks once it has the lock: more may have arrived while it waited. */
async function commit(database: Database, tasks: Tasks): Promise<void> {
  let taken: readonly Task[] = []
  try {
    const callbacks = await database.transaction().execute((within) => {
      taken = takeTasks(tasks, maxPerCommit)
      return runEach(within, taken)
    })
    for (const end of callbacks) end()
  } catch (reason) {
    for (const { fail } of taken.length > 0 ? taken : takeTasks(tasks, Number.POSITIVE_INFINITY)) fail(reason)
  }
}

async function runEach(within: Database, tasks: readonly Task[]): Promise<readonly (() => void)[]> {
  const callbacks: (() => void)[] = []
  for (const { run, fail } of tasks) {
    await sql`savepoint task`.execute(within)
    try {
      callbacks.push(await run(within))
    } catch (reason) {
      await sql`rollback to task`.execute(within).catch(() => Promise.reject(reason))
      callbacks.push(() => fail(reason))
    }
    await sql`release task`.execute(within)
  }
  return callbacks
}
