import { expect, it } from 'vitest'
import { memoize } from './async.ts'

it('calls at the same time and later ones share the first result', async () => {
  let runs = 0
  const read = memoize(async () => ++runs)
  expect(await Promise.all([read(), read()])).toEqual([1, 1])
  expect(await read()).toBe(1)
})

it('a failure is shared by the calls that wait for it, and the next call tries again', async () => {
  let runs = 0
  const read = memoize(async () => {
    if (++runs === 1) throw new Error('out of memory')
    return runs
  })
  const results = await Promise.allSettled([read(), read()])
  expect(results.map((result) => result.status === 'rejected' && result.reason.message)).toEqual(['out of memory', 'out of memory'])
  expect(await Promise.all([read(), read()])).toEqual([2, 2])
})
