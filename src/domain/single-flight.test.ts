import { expect, it } from 'vitest'
import { singleFlight } from './async.ts'

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
