/** The clocks of a replay: the wall clock of every process, and the one by which keys expire. Imported before anything reads a clock. */
import { afterEachFile } from '../support/after-tests.ts'

const steady = Date.now.bind(Date)
let passed = 0
let ahead = 0

/** What the code under test reads is the same function from its first import on. */
Date.now = () => steady() + passed + ahead

const hour = 3_600_000
/** A clock that is ahead is so by less than a day of the model, so that its days stay apart. */
const aheadMs = 25 * hour
const dayMs = 100 * hour

export const time = {
  /** How far a clock is ahead, where one is. */
  aheadMs,
  /** True time: it is never set. */
  ledger: (): number => steady() + passed,
  /** By the days of the model. */
  tomorrow: (): number => steady() + passed + dayMs,
  dayPasses(): void {
    time.passes(dayMs)
  },
  passes(milliseconds: number): void {
    passed += milliseconds
  },
  set isAhead(is: boolean) {
    ahead = is ? aheadMs : 0
  },
  reset(): void {
    passed = 0
    ahead = 0
  },
}

afterEachFile.add(async () => time.reset())
