/** CONTRIBUTING.md: which command runs a file of tests follows from what it imports. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { describe, expect, it } from 'vitest'
import { guards } from './lanes/guards.ts'
import { importsOf, lanesOf, starters, startsPrograms, testModulesOf, waitsForTime } from './lanes/index.ts'
import { realClockTests, waitingModules } from './lanes/real-clock.ts'

const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])
const packages = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).devDependencies)

it('each of the starters is there', () => {
  expect(starters.filter((name) => !isBuiltin(name) && !packages.includes(name) && !existsSync(name))).toEqual([])
})

it('each guard is there, and starts programs', () => {
  expect(Object.keys(guards).filter((file) => !files.includes(file) || !startsPrograms(file))).toEqual([])
})

describe('a real clock', () => {
  const quick = files.filter((file) => lanesOf(file).includes('quick'))
  const modules = [...new Set(quick.flatMap((file) => [...testModulesOf(file)]))]

  it('runs in the listed files of npm test alone', () => {
    const listed = new Set([...Object.keys(realClockTests), ...waitingModules])
    expect(modules.filter((file) => waitsForTime(file) && !listed.has(file))).toEqual([])
    expect([...listed].filter((file) => !modules.includes(file))).toEqual([])
    expect(waitingModules.filter((file) => !waitsForTime(file))).toEqual([])
  })

  it('runs in 30 of its tests at most', () => {
    const tests = Object.values(realClockTests).map(([count]) => count)
    expect(tests.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(30)
  })
})

describe('the lanes of a file', () => {
  it.each([
    ['src/domain/amount.test.ts', ['quick']],
    ['test/forms/rate.test.ts', ['quick']],
    ['test/ledger/create.test.ts', ['quick']],
    ['test/chaos/kills.test.ts', ['quick', 'long']],
    ['test/cli/schema.test.ts', ['long']], // the whole gateway in the process, by test/support/in-process-gateway.ts
    ['test/ledger/locks.test.ts', ['long']], // PostgreSQL, two modules away
    ['test/api-docs-page/page.test.ts', ['long']],
    ['test/fuzz/requests.test.ts', ['long']], // no program: it says that it takes long
    ['test/process/fairness.test.ts', ['alone']],
  ])('%s: %j', (file, lanes) => {
    expect(lanesOf(file)).toEqual(lanes)
  })

  it.each([
    ["import { execFile } from 'node:child_process'", ['node:child_process']],
    ["import './a.ts'", ['./a.ts']],
    ["import type { A } from './a.ts'", []],
    ["import { type A } from './a.ts'", []],
    ["import { type A, b } from './a.ts'", ['./a.ts']],
    ["export * from './a.ts'", ['./a.ts']],
    ["export type { A } from './a.ts'", []],
    ["const a = await import('./a.ts')", ['./a.ts']],
  ])('%s imports %j', (source, imports) => {
    expect(importsOf(source)).toEqual(imports)
  })

  it('nearly all files that start no program are in npm test', () => {
    const others = files.filter((file) => !startsPrograms(file))
    const quick = others.filter((file) => lanesOf(file).includes('quick'))
    expect(quick.length / others.length).toBeGreaterThan(0.85)
  })
})
