/** Executed for each file of tests, and its hooks run after the file's own. */
import { afterAll, afterEach, vi } from 'vitest'
import { afterEachFile, afterEachTest } from './after-tests.ts'

afterEach(async () => {
  for (const work of afterEachTest) await work()
})

afterAll(async () => {
  vi.unstubAllEnvs() // the next file is in the same process
  for (const work of afterEachFile) await work()
})
