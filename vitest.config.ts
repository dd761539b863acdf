import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * - `shared`: the files share processes, and what they import.
 * - `few`: a file compares times or memory, or has traffic that must not be shed. Each has a process of its own.
 * - `alone`: a file compares times so short that a second file would change them.
 * A file is `shared` unless it has "Runs with few others: …" or "Runs alone: …".
 * `npm run test:fast` is the part of `shared` that starts no program and hardly waits: without "Takes long: …" and "Takes longest: …".
 */
const sets = ['shared', 'few', 'alone'] as const
type Set = (typeof sets)[number]

/** What starts programs, or the whole of ours in the process of the test. */
const programs = /'node:child_process'|'playwright-core'|\/cli\/file-gateway\.ts'/
const sources = new Map<string, string>()

function source(file: string): string {
  const text = sources.get(file) ?? readFileSync(file, 'utf8')
  sources.set(file, text)
  return text
}

/** Files at a time, for two processors: much of a test is waiting. */
const maxWorkers: Readonly<Record<Set, number>> = { shared: 5, few: 4, alone: 1 }

/** Whether the file starts programs, or what it imports of the tests does. */
function startsPrograms(file: string, visited: string[]): boolean {
  if (visited.includes(file)) return false
  visited.push(file)
  const imported = [...source(file).matchAll(/^(?:import|export|\}) .*'(\..*\.ts)'$/gm)].map(([, path = '']) =>
    join(dirname(file), path),
  )
  return programs.test(source(file)) || imported.some((path) => path.startsWith('test/') && startsPrograms(path, visited))
}

function setOf(file: string): Set {
  if (/\bRuns alone: /.test(source(file))) return 'alone'
  if (/\bRuns with few others: /.test(source(file))) return 'few'
  return 'shared'
}

function isFast(file: string): boolean {
  return setOf(file) === 'shared' && durationOf(file) === undefined && !startsPrograms(file, [])
}

function durationOf(file: string): string | undefined {
  return /\bTakes (long|longest): /.exec(source(file))?.[1]
}

const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])

/** What takes longest begins first. What takes long, and mostly waits, is spread over the rest, which needs the processors. */
class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications)
    const ofDuration = (duration?: string): TestSpecification[] =>
      sorted.filter(({ moduleId }) => durationOf(moduleId) === duration)
    return [...ofDuration('longest'), ...mixed(ofDuration('long'), ofDuration())]
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
const timeouts = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 10_000, interval: 50 } } }

export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: ['test/support/memory-directory.ts', 'test/support/leak-check.ts', 'test/support/bundle.ts'],
    sequence: { sequencer: LongestFirst },
    projects: sets.map((name, groupOrder) => ({
      test: {
        name,
        include: files.filter((file) => setOf(file) === name && (mode !== 'fast' || isFast(file))),
        setupFiles: ['test/support/setup.ts'],
        ...timeouts,
        isolate: name !== 'shared',
        maxWorkers: maxWorkers[name],
        execArgv: youngGenerationFlags,
        sequence: { groupOrder },
      },
      extends: false,
    })),
  },
}))
