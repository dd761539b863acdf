/** A gateway and its provider in Form A, with one swap, that have to be alive after each test, whatever was sent to them. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { expectAlive } from './expectations.ts'
import { type Pair, startPair } from './pair.ts'
import { swap } from './swaps.ts'

/** For all tests of a file. */
export function soundPair(): () => Pair {
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
