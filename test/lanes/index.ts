/** Which command runs a file of tests: it follows from what the file imports, from its comments, and from the list of guards. */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import { guards } from './guards.ts'

/**
 * - `quick`: `npm test`. Files that start no program, and the guards.
 * - `long`: `npm run test:long`. Files that start programs, files with "Takes long: …", and the guards that have more rounds there.
 * - `alone`: the end of it, one file at a time. Files with "Runs alone: …", which compare times or memory of the machine.
 */
export type Lane = 'quick' | 'long' | 'alone'

/** What starts a program, or the whole gateway in the process of the test. */
export const starters: readonly string[] = ['node:child_process', 'node:cluster', 'playwright-core', 'src/process/reload.ts']

/** With `rounds`, which are more in the long lane. */
const roundsModule = 'test/support/rounds.ts'

export function lanesOf(file: string): readonly Lane[] {
  const { source, imports } = parsed(file)
  if (/\bRuns alone: /.test(source)) return ['alone']
  if (file in guards) return imports.includes(roundsModule) ? ['quick', 'long'] : ['quick']
  return /\bTakes long: /.test(source) || startsPrograms(file) ? ['long'] : ['quick']
}

/** Whether the file says that it takes longest, so that it begins first. */
export function takesLongest(file: string): boolean {
  return /\bTakes longest: /.test(parsed(file).source)
}

/** Whether the file, or a module of the tests that it imports, imports one of the starters. */
export function startsPrograms(file: string, visited = new Set<string>()): boolean {
  if (visited.has(file)) return false
  visited.add(file)
  return parsed(file).imports.some((path) => starters.includes(path) || (isTestModule(path) && startsPrograms(path, visited)))
}

/** The file, and the modules of the tests that it imports, at any distance. */
export function testModulesOf(file: string, visited = new Set<string>()): ReadonlySet<string> {
  if (visited.has(file)) return visited
  visited.add(file)
  for (const path of parsed(file).imports) if (isTestModule(path)) testModulesOf(path, visited)
  return visited
}

/** A timer, or a provider whose response comes later. */
const wait =
  /\bset(Timeout|Interval)\(|\bsetTimeout( as \w+)? \} from 'node:timers|\bpg_sleep\b|\bdelay(Ms)?: [1-9]\d|\bAtomics\.wait\(/
const fakeTimers = /useFakeTimers\(\)|toFake: \[[^\]]*'set(Timeout|Interval)'/

/** Whether the file itself waits for a time, with no fake clock. */
export function waitsForTime(file: string): boolean {
  const { source } = parsed(file)
  return wait.test(source) && !fakeTimers.test(source)
}

function isTestModule(path: string): boolean {
  return path.startsWith('test/') && path.endsWith('.ts')
}

interface ParsedFile {
  readonly source: string
  /** Paths below the root, and names of packages. Imports of types alone are left out. */
  readonly imports: readonly string[]
}

const parsedFiles = new Map<string, ParsedFile>()

function parsed(file: string): ParsedFile {
  const known = parsedFiles.get(file)
  if (known) return known
  const source = readFileSync(file, 'utf8')
  const result = { source, imports: importsOf(source).map((specifier) => pathOf(file, specifier)) }
  parsedFiles.set(file, result)
  return result
}

export function importsOf(source: string): readonly string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync('test.ts', source).module
  const isNeeded = ({ entries }: { entries: readonly { isType: boolean }[] }): boolean =>
    entries.length === 0 || entries.some(({ isType }) => !isType)
  return [
    ...staticImports.filter(isNeeded).map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports
      .filter(isNeeded)
      .flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value ?? []))
      .flat(),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start + 1, end - 1)),
  ]
}

function pathOf(file: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier
}
