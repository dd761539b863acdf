import { expect, it } from 'vitest'
import { memoize, singleFlight } from './async.ts'

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

it('concurrent calls share one result, and the next call starts again', async () => {
  const gates: PromiseWithResolvers<number>[] = []
  const flight = singleFlight(() => {
    const gate = Promise.withResolvers<number>()
    gates.push(gate)
    return gate.promise
  })
  const both = [flight.run(), flight.run()]
  expect([gates.length, flight.isRunning()]).toEqual([1, true])
  gates[0]?.resolve(1)
  expect(await Promise.all(both)).toEqual([1, 1])
  expect(flight.isRunning()).toBe(false)
  const next = flight.run()
  gates[1]?.resolve(2)
  expect(await next).toBe(2)
})

it('a failure is shared, and is not kept', async () => {
  let calls = 0
  const flight = singleFlight(() => Promise.reject(new Error(`${++calls}`)))
  const results = await Promise.allSettled([flight.run(), flight.run()])
  expect(results.map((result) => result.status === 'rejected' && result.reason.message)).toEqual(['1', '1'])
  await expect(flight.run()).rejects.toThrow('2')
})
