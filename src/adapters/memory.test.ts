// Takes long: a million keys.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { memoryLimiter, memoryVerifiedKeys } from './memory.ts'

afterEach(() => vi.restoreAllMocks())

/** Consumes from `count` buckets of the kind, each once. */
async function flood(limiter: ReturnType<typeof memoryLimiter>, kind: string, count: number): Promise<void> {
  for (let n = 1; n < count; n++) void limiter.consume(`${kind}:2001:db8:${n >> 16}:${n & 65_535}`, 60, 60)
  await limiter.consume(`${kind}:last`, 60, 60)
}

function setClock() {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  return { at: (seconds: number) => void clock.mockReturnValue(1_000 * (1 + seconds)) }
}

it('counts in windows that begin with the first request', async () => {
  const clock = setClock()
  const limiter = memoryLimiter()
  const consume = () => limiter.consume('quotes:address:a', 2, 60)
  expect(await consume()).toEqual({ isOver: false, remaining: 1, resetSeconds: 60, points: 1 })
  clock.at(59.5)
  expect(await consume()).toEqual({ isOver: false, remaining: 0, resetSeconds: 1, points: 2 })
  expect(await consume()).toEqual({ isOver: true, remaining: 0, resetSeconds: 1, points: 3 })
  clock.at(60)
  expect(await consume()).toEqual({ isOver: false, remaining: 1, resetSeconds: 60, points: 1 })
})

it('at a limit that changes counts what was admitted, not what was refused', async () => {
  const limiter = memoryLimiter()
  const consume = (limit: number) => limiter.consume('read:identity:a', limit, 60)
  for (let n = 0; n < 50; n++) await consume(5)
  const raised = await Promise.all(Array.from({ length: 50 }, () => consume(8)))
  expect(raised.filter(({ isOver }) => !isOver)).toHaveLength(3)
  expect((await consume(2)).isOver).toBe(true)
})

it('R1: never returns more seconds than the window has, however long the process runs', async () => {
  const clock = vi.spyOn(performance, 'now')
  const limiter = memoryLimiter()
  for (let at = 0; at < 1_000; at++) {
    clock.mockReturnValue(at * 7_919.1357)
    expect((await limiter.consume(`quotes:address:${at}`, 1, 60)).resetSeconds).toBe(60)
  }
})

it('counts a bucket until the end of its own window', async () => {
  const clock = setClock()
  const limiter = memoryLimiter()
  clock.at(50)
  await limiter.consume('quotes:address:a', 1, 60)
  for (const second of [60, 61, 109]) {
    clock.at(second)
    await limiter.consume(`quotes:address:${second}`, 1, 60)
    expect((await limiter.consume('quotes:address:a', 1, 60)).isOver, `${second}`).toBe(true)
  }
})

it('R10: a million addresses take little memory, and each of them is admitted', { timeout: 60_000 }, async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const limiter = memoryLimiter()
  collect()
  const before = process.memoryUsage().heapUsed
  await flood(limiter, 'quotes:address', 1_000_000)
  collect()
  const { isOver } = await limiter.consume('quotes:address:another', 1, 60)
  expect(isOver).toBe(false)
  expect((process.memoryUsage().heapUsed - before) / 2 ** 20, 'megabytes').toBeLessThan(150)
})

it('R10: a bucket is kept while fewer than 50,000 others are counted, and a key for any number of addresses', async () => {
  const limiter = memoryLimiter()
  const buckets = ['quotes:address:greedy', 'create:identity:greedy', 'unverified:all']
  for (const bucket of buckets) await limiter.consume(bucket, 1, 60)
  await flood(limiter, 'quotes:address', 49_000)
  for (const bucket of buckets) expect((await limiter.consume(bucket, 1, 60)).isOver, bucket).toBe(true)
  for (const kind of ['quotes:address', 'unverified:address']) await flood(limiter, kind, 110_000)
  for (const bucket of buckets.slice(1)) expect((await limiter.consume(bucket, 1, 60)).isOver, bucket).toBe(true)
})

it('R11: buckets do not collide, whatever their names contain', async () => {
  const limiter = memoryLimiter()
  const names = ['a', 'a:b', 'a:b:c', 'a:b:', 'b', 'a\nb', '', ':', '::']
  for (const name of names) expect((await limiter.consume(name, 1, 60)).isOver, JSON.stringify(name)).toBe(false)
  expect((await limiter.consume('a', 1, 61)).isOver).toBe(false)
  for (const name of names) expect((await limiter.consume(name, 1, 60)).isOver, JSON.stringify(name)).toBe(true)
})

it('R10: an expired window is deleted with all its buckets', async () => {
  const clock = setClock()
  const limiter = memoryLimiter()
  const consume = (name: string) => limiter.consume(`quotes:address:${name}`, 2, 60)
  await consume('a')
  clock.at(30)
  await consume('b')
  clock.at(59)
  expect((await consume('b')).remaining).toBe(0)
  clock.at(61)
  expect((await consume('c')).remaining).toBe(1)
  expect((await consume('b')).isOver, 'its window began later').toBe(true)
  clock.at(90)
  expect((await consume('b')).remaining).toBe(1)
})

describe('a verified key', () => {
  it('stays verified for an hour', async () => {
    const clock = setClock()
    const keys = memoryVerifiedKeys(3_600_000)
    expect(await keys.has('acme')).toBe(false)
    await keys.add('acme')
    clock.at(3_599)
    expect(await keys.has('acme')).toBe(true)
    clock.at(3_600)
    expect(await keys.has('acme')).toBe(false)
  })

  it('is renewed once a minute', async () => {
    const clock = setClock()
    const keys = memoryVerifiedKeys(3_600_000)
    await keys.add('acme')
    clock.at(59)
    await keys.add('acme')
    clock.at(3_600)
    expect(await keys.has('acme'), 'too soon to be renewed').toBe(false)
    await keys.add('acme')
    clock.at(3_660)
    await keys.add('acme')
    clock.at(7_200)
    expect(await keys.has('acme')).toBe(true)
  })

  it('R10: is one of the last 50,000 that were added, asked for or renewed, and of 100,000 at most', async () => {
    const clock = setClock()
    const keys = memoryVerifiedKeys(3_600_000)
    for (let at = 0; at < 100_000; at++) void keys.add(`key ${at}`)
    clock.at(60)
    await keys.add('key 0')
    await keys.add('one more')
    const kept = ['key 0', 'key 1', 'key 99999', 'one more'].map((key) => keys.has(key))
    expect(await Promise.all(kept)).toEqual([true, false, true, true])
  })
})
