import { expect, test } from 'vitest'
import { ProcessorShares } from './processor-shares.ts'

function start() {
  const time = { now: 0, microseconds: 0 }
  const shares = new ProcessorShares(
    () => time.now,
    () => time.microseconds,
  )
  /** The process works for so long, all of it or a part for somebody. */
  const work = (milliseconds: number, of: Readonly<Record<string, number>> = {}): void => {
    time.now += milliseconds
    time.microseconds += milliseconds * 1_000
    for (const [identity, own] of Object.entries(of)) shares.count(identity, own * 1_000)
  }
  return { time, shares, work }
}

test('who took more than a fifth of the last second has a large share', () => {
  const { shares, work } = start()
  for (let time = 0; time < 200; time++) work(10, { heavy: 2.2, lower: 1.9, light: 0.5 })
  expect(['heavy', 'lower', 'light', 'silent'].filter((identity) => shares.isLarge(identity))).toEqual(['heavy'])
})

test('it is a share of what the process got, and no share of a process that does little', () => {
  const starved = start()
  for (let time = 0; time < 10; time++) {
    starved.work(40, { heavy: 10 })
    starved.time.now += 60
  }
  expect(starved.shares.isLarge('heavy')).toBe(true)
  const idle = start()
  for (let time = 0; time < 10; time++) {
    idle.work(4, { only: 4 })
    idle.time.now += 96
  }
  expect(idle.shares.isLarge('only')).toBe(false)
})

test('it is large no longer than a second after its end, and remembered for two', () => {
  const { shares, work } = start()
  for (let time = 0; time < 10; time++) work(100, { heavy: 90 })
  expect([shares.isLarge('heavy'), shares.hadLarge]).toEqual([true, true])
  work(1_000)
  expect([shares.isLarge('heavy'), shares.hadLarge]).toEqual([false, true])
  work(1_000)
  expect(shares.hadLarge).toBe(false)
})

test('memory is bounded, whoever comes', () => {
  const { shares, work } = start()
  work(500, { heavy: 400 })
  for (let number = 0; number < 100_000; number++) shares.count(`other-${number}`, 1)
  shares.count('heavy', 1)
  expect(shares.isLarge('heavy')).toBe(true)
  expect(shares.isLarge('other-0')).toBe(false)
})
