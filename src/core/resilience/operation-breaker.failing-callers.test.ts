import { beforeEach, expect, it } from 'vitest'
import { workMs } from '../../../test/support/work.ts'
import { FailingCallers } from './operation-breaker.ts'

let failing: FailingCallers
let now: number
beforeEach(() => {
  failing = new FailingCallers()
  now = 1_000_000
})

const fail = (...callers: readonly string[]): void => {
  for (const caller of callers) failing.recordFailure(caller, now)
}
const respond = (...callers: readonly string[]): void => {
  for (const caller of callers) failing.recordResponse(caller, now)
}

it('one caller is not a majority, however often it fails', () => {
  for (let call = 0; call < 1_000; call++) fail('a')
  expect(failing.isMajority(now)).toBe(false)
})

it('two are, if they are more than half of all', () => {
  fail('a', 'b')
  expect(failing.isMajority(now)).toBe(true)
  respond('c')
  expect(failing.isMajority(now)).toBe(true)
  respond('d')
  expect(failing.isMajority(now)).toBe(false)
  fail('e')
  expect(failing.isMajority(now)).toBe(true)
})

it('unverified callers are one, and only their responses count', () => {
  const unverified = undefined
  fail('a')
  for (let call = 0; call < 10; call++) failing.recordFailure(unverified, now)
  expect(failing.isMajority(now)).toBe(false)
  fail('b')
  respond('c')
  expect(failing.isMajority(now)).toBe(true)
  for (let call = 0; call < 10; call++) failing.recordResponse(unverified, now)
  expect(failing.isMajority(now)).toBe(false)
})

it('a caller with a response in the last 30 seconds does not count as failing', () => {
  respond('a')
  now += 29_000
  fail('a', 'b')
  expect(failing.isMajority(now)).toBe(false)
  now += 1_000
  fail('a')
  expect(failing.isMajority(now)).toBe(true)
  respond('a')
  expect(failing.isMajority(now)).toBe(false)
})

it('a caller without a call for 30 seconds does not count', () => {
  fail('a', 'b')
  now += 30_000
  fail('b')
  expect(failing.isMajority(now)).toBe(false)
  respond('c', 'd', 'e')
  now += 31_000
  fail('a', 'b')
  expect(failing.isMajority(now)).toBe(true)
})

it('a call costs the same for 10 and for 100,000 callers', async () => {
  const costOf = async (callers: number): Promise<number> => {
    const populated = new FailingCallers()
    const names = Array.from({ length: callers }, (_, at) => `caller ${at}`)
    const runCalls = (calls: number): void => {
      for (let call = 0; call < calls; call++) {
        now += 0.1
        const name = names[call % callers] as string
        if (call % 3) populated.recordResponse(name, now)
        else populated.recordFailure(name, now)
        populated.isMajority(now)
      }
    }
    runCalls(callers)
    return (await workMs(() => runCalls(20_000))) / 20_000
  }
  await costOf(10)
  const [smallest, largest] = [await costOf(10), await costOf(100_000)]
  expect(largest, `${smallest} and ${largest} ms`).toBeLessThan(Math.max(50 * smallest, 0.02))
})
