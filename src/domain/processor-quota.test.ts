import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { inSlices, pause } from './async.ts'
import { ProcessorQuota } from './processor-quota.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A process that works while its clock stands: `work` takes so much of the processor, and `log` has when it did. */
function start() {
  const cpu = { ms: 0 }
  const quota = new ProcessorQuota(() => cpu.ms)
  const log: string[] = []
  const work = (name: string, ms: number): void => {
    log.push(`${name} at ${Math.round(performance.now() - startedAt)}`)
    cpu.ms += ms
  }
  const startedAt = performance.now()
  return { cpu, quota, log, work }
}

it('after each phase nothing begins for four times as long as it had the processor, whoever asks', async () => {
  const { quota, log, work } = start()
  const long = quota.run('reader', async () => {
    work('long', 5)
    await pause()
    work('long', 10)
  })
  const other = quota.run('reader', async () => work('other', 2.5))
  await vi.advanceTimersByTimeAsync(1_000)
  await Promise.all([long, other])
  expect(log).toEqual(['long at 0', 'other at 20', 'long at 30'])
  await quota.run('reader', async () => work('late', 1))
  expect(log.at(-1)).toBe('late at 1000')
})

it.each([1, 8])('%i who ask without a pause get a fifth of the time', async (readers) => {
  const { cpu, quota, work } = start()
  let isOver = false
  const read = async () => {
    while (!isOver)
      await quota.run('reader', async () => {
        work('ledger', 20)
        for (let piece = 0; piece < 10; piece++) {
          await pause()
          work('rows', 2)
        }
      })
  }
  const ends = Array.from({ length: readers }, read)
  await vi.advanceTimersByTimeAsync(10_000)
  isOver = true
  const took = cpu.ms
  await vi.advanceTimersByTimeAsync(10_000)
  await Promise.all(ends)
  const share = took / (10_000 + took)
  expect(share).toBeGreaterThan(0.19)
  expect(share).toBeLessThan(0.21)
})

it('those that wait have turns: who has little to do waits for no long one', async () => {
  const { quota, log, work } = start()
  const long = async (name: string) => {
    for (let piece = 0; piece < 100; piece++) {
      work(name, 2)
      await pause()
    }
  }
  const all = ['one', 'two', 'three'].map((name) => quota.run(name, () => long(name)))
  const short = quota.run('reader', async () => work('short', 1))
  await vi.advanceTimersByTimeAsync(30)
  await short
  expect(log.at(3)).toBe('short at 24')
  await vi.advanceTimersByTimeAsync(3_000)
  await Promise.all(all)
})

it('one that waits for the ledger keeps the next one 20 ms, and counts at most 100 ms of what others take meanwhile', async () => {
  const { cpu, quota, log, work } = start()
  const ledger = Promise.withResolvers<void>()
  const waiting = quota.run('reader', () => ledger.promise)
  const others = ['one', 'two'].map((name) => quota.run(name, async () => work(name, 0)))
  await vi.advanceTimersByTimeAsync(30)
  await Promise.all(others)
  expect(log).toEqual(['one at 20', 'two at 22'])
  await vi.advanceTimersByTimeAsync(70)
  cpu.ms += 5_000
  ledger.resolve()
  await waiting
  const next = quota.run('reader', async () => work('next', 1))
  await vi.advanceTimersByTimeAsync(1_000)
  await next
  expect(log.at(-1)).toBe('next at 500')
})

it('phases at the same time count each millisecond once', async () => {
  const { cpu, quota, log, work } = start()
  const ledger = Promise.withResolvers<void>()
  const waiting = [1, 2, 3].map(() => quota.run('reader', () => ledger.promise))
  await vi.advanceTimersByTimeAsync(100)
  cpu.ms += 10
  ledger.resolve()
  await Promise.all(waiting)
  const next = quota.run('reader', async () => work('next', 1))
  await vi.advanceTimersByTimeAsync(1_000)
  await next
  // Four times 10 ms, and twice the least.
  expect(log).toEqual(['next at 144'])
})

it('a phase that fails ends, and the next one begins', async () => {
  const { quota } = start()
  const failed = expect(quota.run('reader', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  const next = quota.run('reader', async () => 'read')
  await vi.advanceTimersByTimeAsync(10)
  await failed
  expect(await next).toBe('read')
})

it('what goes on after the end of its work is in no quota any more', async () => {
  const { quota, log, work } = start()
  let later: Promise<void> | undefined
  await quota.run('reader', async () => {
    work('work', 100)
    later = new Promise((resolve) => void queueMicrotask(() => setImmediate(() => pause().then(resolve))))
  })
  await later
  work('later', 1)
  expect(log).toEqual(['work at 0', 'later at 0'])
})

it('owners have turns, however much one of them asks for', async () => {
  const { quota, log, work } = start()
  const read = async (name: string) => {
    work(name, 1)
    await pause()
    work(name, 1)
  }
  const many = Array.from({ length: 20 }, () => quota.run('loop', () => read('loop')))
  const few = quota.run('person', () => read('person'))
  await vi.advanceTimersByTimeAsync(20)
  await few
  expect(log.slice(0, 5)).toEqual(['loop at 0', 'loop at 4', 'person at 8', 'loop at 12', 'person at 16'])
  expect([quota.countOf('loop'), quota.countOf('person')]).toEqual([20, 0])
  await vi.advanceTimersByTimeAsync(1_000)
  await Promise.all(many)
  expect(quota.countOf('loop')).toBe(0)
})

it('what its client leaves before it begins does not begin, and no other waits for it', async () => {
  const { quota, log, work } = start()
  await quota.run('reader', async () => work('first', 1))
  const left = new AbortController()
  const gone = Array.from({ length: 1_000 }, () =>
    expect(quota.run('loop', async () => work('gone', 1), left.signal)).rejects.toThrow('left'),
  )
  const next = quota.run('loop', async () => work('next', 1))
  left.abort(new Error('left'))
  await Promise.all(gone)
  expect(quota.countOf('loop')).toBe(1)
  await vi.advanceTimersByTimeAsync(4)
  await next
  expect(log).toEqual(['first at 0', 'next at 4'])
})

it('slices outside of a quota have their own pauses', async () => {
  const { log, work } = start()
  const sliced = inSlices(['one', 'two'], (name) => {
    work(name, 0)
    vi.advanceTimersByTime(2)
  })
  await vi.advanceTimersByTimeAsync(20)
  await sliced
  expect(log).toEqual(['one at 0', 'two at 8'])
})

it('who asks while a shared run is under way gets the next one, with all others who wait, after its pause', async () => {
  const { cpu, quota } = start()
  const gates: PromiseWithResolvers<number>[] = []
  const ask = quota.shared(() => {
    const gate = Promise.withResolvers<number>()
    gates.push(gate)
    return gate.promise
  })
  const first = ask()
  await vi.advanceTimersByTimeAsync(10)
  const waiting = [ask(), ask()]
  expect(gates.length).toBe(1)
  cpu.ms += 10
  gates[0]?.resolve(1)
  expect(await first).toBe(1)
  await vi.advanceTimersByTimeAsync(39)
  expect(gates.length).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(gates.length).toBe(2)
  gates[1]?.resolve(2)
  expect(await Promise.all(waiting)).toEqual([2, 2])
})

it('a shared run that fails fails those who wait for it, and no other', async () => {
  const { quota } = start()
  let runs = 0
  const ask = quota.shared(async () => {
    if (++runs === 1) throw new Error('away')
    return runs
  })
  await expect(ask()).rejects.toThrow('away')
  const again = ask()
  await vi.advanceTimersByTimeAsync(10)
  expect(await again).toBe(2)
})
