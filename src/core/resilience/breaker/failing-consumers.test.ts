import { beforeEach, expect, it } from 'vitest'
import { FailingConsumers } from './failing-consumers.ts'

let failing: FailingConsumers
let now: number
beforeEach(() => {
  failing = new FailingConsumers()
  now = 1_000_000
})

const fail = (...consumers: readonly string[]): void => {
  for (const consumer of consumers) failing.recordFailure(consumer, now)
}
const respond = (...consumers: readonly string[]): void => {
  for (const consumer of consumers) failing.recordResponse(consumer, now)
}

it('one consumer is not a majority, however often it fails', () => {
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

it('a consumer with a response in the last 30 seconds does not count as failing', () => {
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

it('a consumer without a call for 30 seconds does not count', () => {
  fail('a', 'b')
  now += 30_000
  fail('b')
  expect(failing.isMajority(now)).toBe(false)
  respond('c', 'd', 'e')
  now += 31_000
  fail('a', 'b')
  expect(failing.isMajority(now)).toBe(true)
})

it('a call costs the same for 10 and for 100,000 consumers', () => {
  const costOf = (consumers: number): number => {
    const populated = new FailingConsumers()
    const names = Array.from({ length: consumers }, (_, at) => `consumer ${at}`)
    const runCalls = (calls: number): void => {
      for (let call = 0; call < calls; call++) {
        now += 0.1
        const name = names[call % consumers] as string
        if (call % 3) populated.recordResponse(name, now)
        else populated.recordFailure(name, now)
        populated.isMajority(now)
      }
    }
    runCalls(consumers)
    const start = performance.now()
    runCalls(20_000)
    return (performance.now() - start) / 20_000
  }
  costOf(10)
  const [smallest, largest] = [costOf(10), costOf(100_000)]
  expect(largest, `${smallest} and ${largest} ms`).toBeLessThan(Math.max(50 * smallest, 0.02))
})
