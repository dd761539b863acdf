import { globSync } from 'node:fs'
import { join, relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { type Lane, lanesOf, startsPrograms, takesLongest } from './test/lanes/index.ts'
import { eventTimeoutMs } from './test/support/event-timeout.ts'

/** By the mode of vitest: `npm test` has the mode `quick`, `npm run test:long` the mode `long`. Without one, each file that is named runs once. */
const lanesOfMode: Readonly<Record<string, readonly Lane[]>> = { quick: ['quick'], long: ['long', 'alone'] }
const allLanes: readonly Lane[] = ['quick', 'long', 'alone']

/** Files at a time, for two processors: much of a quick test is waiting, and a long one has processes of its own. */
const maxWorkers: Readonly<Record<Lane, number>> = { quick: 5, long: 3, alone: 1 }

const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])

/** What takes longest begins first. Files that start programs, which mostly wait, are spread over the rest, which needs the processors. */
class ProgramsSpread extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications)
    const kindOf = ({ moduleId }: TestSpecification) => {
      const file = relative(import.meta.dirname, moduleId)
      if (takesLongest(file)) return 'longest'
      return startsPrograms(file) ? 'waiting' : 'busy'
    }
    const { longest = [], waiting = [], busy = [] } = Object.groupBy(sorted, kindOf)
    return [...longest, ...mixed(waiting, busy)]
  }
}

/** The last part of a run has no file that mostly waits: too few others would be left to use the processors. */
const waitingPart = 0.8

/** Both in their order, the first at even distances over that part of the second. */
function mixed<T>(some: readonly T[], rest: readonly T[]): T[] {
  const place = (list: readonly T[], part: number) => list.map((item, at) => ({ item, at: (part * (at + 0.5)) / list.length }))
  const placed = [...place(some, waitingPart), ...place(rest, 1)]
  return placed.toSorted((a, b) => a.at - b.at).map(({ item }) => item)
}

/** For objects that live as long as a test: Node's 1 MB would be collected, and promoted, all the time. */
const youngGenerationFlags = ['--min-semi-space-size=32', '--max-semi-space-size=64']

/** Milliseconds: a machine that does other things beside may be slow. */
const timeouts = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: eventTimeoutMs, interval: 50 } } }

/** A directory for a report of each mode, in JSON. */
const reports = process.env.SWAPGATE_TEST_REPORTS

export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: ['test/support/memory-directory.ts', 'test/support/leak-check.ts', 'test/support/bundle.ts'],
    sequence: { sequencer: ProgramsSpread },
    reporters: reports === undefined ? ['default'] : ['default', ['json', { outputFile: join(reports, `${mode}.json`) }]],
    projects: (lanesOfMode[mode] ?? allLanes).map((lane, groupOrder) => ({
      test: {
        name: lane,
        include: files.filter((file) => (lanesOfMode[mode] ? lanesOf(file).includes(lane) : lanesOf(file)[0] === lane)),
        setupFiles: ['test/support/setup.ts'],
        ...timeouts,
        env: { SWAPGATE_LANE: lane },
        isolate: lane === 'alone',
        maxWorkers: maxWorkers[lane],
        execArgv: youngGenerationFlags,
        sequence: { groupOrder },
      },
      extends: false,
    })),
  },
}))
