import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type MeasuredLoad, measureLoad, processGauges } from './load.ts'

let now = 0
let share = 0
let load: MeasuredLoad

beforeEach(() => {
  vi.useFakeTimers()
  now = 0
  share = 0.1
  load = measureLoad({ now: () => now, memoryShare: () => share })
})
afterEach(() => {
  load.stop()
  vi.useRealTimers()
})

/** Runs the timer `times` times, each `late` milliseconds late. */
function tick(late = 0, times = 1): void {
  for (let at = 0; at < times; at++) {
    now += 50 + late
    vi.advanceTimersByTime(50)
  }
}

describe('X3: the wait of the first queued request', () => {
  test.each([
    [999, 0],
    [1_000, 1],
    [2_000, 2],
    [4_000, 3],
  ])('of %i ms is load level %i', (wait, level) => {
    load.begin(() => wait)
    tick()
    expect(load.level).toBe(level)
    load.begin(() => 0)
    tick()
    expect(load.level).toBe(0)
  })
})

describe('X3: the delay of a timer', () => {
  test.each([
    [0, 0],
    [199, 0],
    [200, 1],
    [400, 2],
    [1_000, 3],
    [5_000, 3],
  ])('of %i ms, twice, is load level %i', (late, level) => {
    tick(late, 2)
    expect(load.level).toBe(level)
    expect(load.delayMs).toBe(late)
  })

  test('before requests come it is none', () => {
    tick(1_000, 2)
    expect(load.level).toBe(3)
    now += 1_000
    load.begin(() => 0)
    expect([load.level, load.delayMs]).toEqual([0, 0])
    tick(0, 2)
    expect(load.level).toBe(0)
    tick(400, 2)
    expect(load.level).toBe(2)
  })

  test('once is no load', () => {
    tick(5_000)
    expect(load.level).toBe(0)
  })

  test('counts for two seconds', () => {
    tick(500, 2)
    tick(0, 38)
    expect(load.level).toBe(2)
    tick()
    expect(load.level).toBe(0)
  })
})

describe('X4: memory, of the heap or resident,', () => {
  test.each([
    [0.84, 0],
    [0.85, 1],
    [0.92, 2],
    [0.97, 3],
  ])('%d full is load level %i', (used, level) => {
    share = used
    tick()
    expect(load.level).toBe(level)
    share = 0.5
    tick()
    expect(load.level).toBe(0)
  })
})

test('measures the process itself', () => {
  vi.useRealTimers()
  const measured = measureLoad(processGauges())
  expect(measured.level).toBe(0)
  measured.stop()
})

test('a process that may open no more files keeps its last memory figure, and goes on', () => {
  load.stop()
  const full = (): never => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
  }
  const opened = vi.spyOn(fs, 'readFileSync').mockImplementation(full)
  const resident = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(full)
  syncBuiltinESMExports()
  load = measureLoad(processGauges())
  vi.advanceTimersByTime(1_000)
  expect(opened.mock.calls.length + resident.mock.calls.length).toBe(5)
  expect(load.level).toBe(0)
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

test.skipIf(process.platform !== 'linux')(
  'pages of files are not counted: the system drops them when a container is full (of Linux)',
  () => {
    load.stop()
    const status = (anonymous: number): string => `VmRSS:\t  900000000 kB\nRssAnon:\t  ${anonymous} kB\nRssFile:\t  900000000 kB\n`
    const opened = vi.spyOn(fs, 'readFileSync').mockReturnValue(status(1))
    syncBuiltinESMExports()
    load = measureLoad(processGauges())
    vi.advanceTimersByTime(50)
    expect(load.level).toBe(0)
    opened.mockReturnValue(status(900_000_000))
    vi.advanceTimersByTime(200)
    expect(load.level).toBe(3)
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  },
)
