import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * - `fast` needs this process alone and hardly waits: `npm run test:fast`. Its files share processes, and what they import.
 * - `whole` is about programs, servers and stores, or takes long. Its files share processes too.
 * - `pair` needs about one processor for itself, also to compare times or memory: two files at a time, each with a process of its own.
 * - `alone` compares times so short that a second file would change them: nothing runs beside it.
 * A file that needs none of the programs of the second is of the first, unless it says "Takes long: …", "Takes longest: …",
 * "Runs in a pair: …" or "Runs alone: …".
 */
const sets = ['fast', 'whole', 'pair', 'alone'] as const
type Set = (typeof sets)[number]

/** What starts programs, or the whole of ours in the process of the test. */
const programs = /'node:child_process'|'playwright-core'|\/cli\/file-gateway\.ts'/
const sources = new Map<string, string>()

function source(file: string): string {
  const text = sources.get(file) ?? readFileSync(file, 'utf8')
  sources.set(file, text)
  return text
}

/** Files at a time. Of the first two sets twice as many as two processors, since much of a test is waiting. */
const maxWorkers: Readonly<Record<Set, number>> = { fast: 4, whole: 4, pair: 2, alone: 1 }
/** One after another; the first two sets are run together. */
const order: Readonly<Record<Set, number>> = { fast: 0, whole: 0, pair: 1, alone: 2 }

/** Whether the file starts programs, or what it imports of the tests does. */
function startsPrograms(file: string, seen: string[]): boolean {
  if (seen.includes(file)) return false
  seen.push(file)
  const imported = [...source(file).matchAll(/^(?:import|export|\}) .*'(\..*\.ts)'$/gm)].map(([, path = '']) =>
    join(dirname(file), path),
  )
  return programs.test(source(file)) || imported.some((path) => path.startsWith('test/') && startsPrograms(path, seen))
}

function setOf(file: string): Set {
  if (/\bRuns alone: /.test(source(file))) return 'alone'
  if (/\bRuns in a pair: /.test(source(file))) return 'pair'
  return durationOf(file) !== undefined || startsPrograms(file, []) ? 'whole' : 'fast'
}

function durationOf(file: string): string | undefined {
  return /\bTakes (long|longest): /.exec(source(file))?.[1]
}

const files = Map.groupBy(globSync(['src/**/*.test.ts', 'test/**/*.test.ts']), setOf)

/** What takes longest begins first. What takes long, and mostly waits, is spread over the rest, which needs the processors. */
class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications)
    const ofDuration = (duration?: string): TestSpecification[] =>
      sorted.filter(({ moduleId }) => durationOf(moduleId) === duration)
    return [...ofDuration('longest'), ...mixed(ofDuration('long'), ofDuration())]
  }
}

/** Both in their order, those of the shorter list at even distances. */
function mixed<T>(some: readonly T[], rest: readonly T[]): T[] {
  const placed = [some, rest].flatMap((list) => list.map((item, at) => ({ item, at: (at + 0.5) / list.length })))
  return placed.toSorted((a, b) => a.at - b.at).map(({ item }) => item)
}

/** For objects that live as long as a test: Node's 1 MB would be collected, and promoted, all the time. */
const youngGenerationFlags = ['--min-semi-space-size=32', '--max-semi-space-size=64']

/** Milliseconds: a machine that does other things beside may be slow. */
const patience = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 10_000, interval: 50 } } }

export default defineConfig({
  test: {
    globalSetup: ['test/support/remains.ts', 'test/support/bundle.ts'],
    sequence: { sequencer: LongestFirst },
    projects: sets.map((name) => ({
      test: {
        name,
        include: files.get(name) ?? [],
        setupFiles: ['test/support/setup.ts'],
        ...patience,
        isolate: order[name] > 0,
        maxWorkers: maxWorkers[name],
        execArgv: youngGenerationFlags,
        sequence: { groupOrder: order[name] },
      },
      extends: false,
    })),
  },
})
