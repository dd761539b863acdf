/** A gateway and its provider in Form A with one swap. Both must be alive after each test. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { expectAlive } from './expectations.ts'
import { type Pair, startPair } from './pair.ts'
import { swap } from './swaps.ts'

/** For all tests of a file. */
export function sharedPair(): () => Pair {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair('A', 'A')
  })
  beforeEach(async () => {
    pair.provider.reset()
    pair.provider.holdings.swaps = [swap()]
    await pair.gateway.forget() // the provider gives its ids anew
  })
  afterEach(() => expectAlive(pair.client))
  afterAll(() => pair.close())
  return () => pair
}
