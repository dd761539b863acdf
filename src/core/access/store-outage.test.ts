import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Observation } from '../../domain/observation.ts'
import { type Limiter, limitFallback, type SharedLimiter } from './limits.ts'
import { StoreOutage } from './store-outage.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Fixed windows on the clock of the test. */
function windows() {
  const known = new Map<string, { points: number; until: number }>()
  const add = (bucket: string, points: number, seconds: number): { points: number; resetSeconds: number } => {
    const before = known.get(bucket)
    const window = before && before.until > performance.now() ? before : { points: 0, until: performance.now() + seconds * 1000 }
    window.points += points
    known.set(bucket, window)
    return { points: window.points, resetSeconds: Math.ceil((window.until - performance.now()) / 1000) }
  }
  const limiter: Limiter = {
    async consume(bucket, limit, window) {
      const { points, resetSeconds } = add(bucket, 1, window)
      return { isOver: points > limit, remaining: Math.max(0, limit - points), resetSeconds, points }
    },
  }
  return { add, limiter, known }
}

function start(replicas: number) {
  const there = windows()
  const store = { isLost: false, calls: 0, adds: 0 }
  const fail = (): never => {
    throw new Error('lost')
  }
  const shared: SharedLimiter = {
    async consume(...args) {
      store.calls++
      return store.isLost ? fail() : there.limiter.consume(...args)
    },
    async add(bucket, points, _, remainingSeconds) {
      store.adds++
      return store.isLost ? fail() : there.add(bucket, points, remainingSeconds).points
    },
  }
  const observations: Observation[] = []
  const observe = (observation: Observation): void => void observations.push(observation)
  const outage = new StoreOutage(async () => (store.isLost ? fail() : 1), observe)
  const limiter = limitFallback({ shared, local: windows().limiter, processes: { among: () => replicas }, outage, observe })
  const consume = () => limiter.consume('bucket', 10, 60)
  return { store, there, outage, consume, limiter, observations }
}

it('after one failure the store is not used until it is back', async () => {
  const { store, outage, consume } = start(2)
  store.isLost = true
  for (let call = 0; call < 20; call++) await consume()
  expect(store.calls).toBe(1)
  store.isLost = false
  await vi.advanceTimersByTimeAsync(250)
  expect(outage.state).toBe('recovering')
  await vi.advanceTimersByTimeAsync(1_500)
  expect(outage.state).toBe('shared')
})

it('what only the share refuses is counted, and what is past the whole limit is not', async () => {
  const { store, consume, observations } = start(2)
  store.isLost = true
  for (let call = 0; call < 13; call++) await consume()
  // Five are admitted, five are within the limit of ten and refused, three are past it.
  expect(observations.filter(({ what }) => what === 'shareRefusal')).toHaveLength(5)
})

it('each replica has a share of at least 1, however many replicas there are', async () => {
  const { store, consume } = start(100)
  store.isLost = true
  expect(await consume()).toEqual({ isOver: false, remaining: 0, resetSeconds: 60, points: 1 })
  expect((await consume()).isOver).toBe(true)
})

it('adds what it admitted to the store, nothing that it refused, and reports the excess', async () => {
  const { store, there, consume, observations } = start(2)
  for (let call = 0; call < 8; call++) await consume()
  store.isLost = true
  for (let call = 0; call < 20; call++) await consume()
  store.isLost = false
  await vi.advanceTimersByTimeAsync(2_000)
  expect(there.known.get('bucket')?.points).toBe(8 + 5)
  expect(observations.filter(({ what }) => what === 'overAdmission')).toEqual([{ what: 'overAdmission', count: 3 }])
  expect(await consume()).toMatchObject({ isOver: true, remaining: 0 })
})

it('a local window ends in the store at its own end, at most a second later', async () => {
  const { store, there, consume } = start(1)
  store.isLost = true
  await consume()
  await vi.advanceTimersByTimeAsync(40_000)
  store.isLost = false
  await vi.advanceTimersByTimeAsync(2_000)
  expect((await consume()).resetSeconds).toBe(19)
  await vi.advanceTimersByTimeAsync(19_000)
  expect(await consume()).toMatchObject({ remaining: 9, resetSeconds: 60 })
  expect(there.known.get('bucket')?.points).toBe(1)
})

it('points of a window that is over are not added to the store', async () => {
  const { store, consume } = start(1)
  store.isLost = true
  await consume()
  await vi.advanceTimersByTimeAsync(61_000)
  store.isLost = false
  await vi.advanceTimersByTimeAsync(2_000)
  expect(store.adds).toBe(0)
})

it('during the recovery both the store and the replica count, and the stricter one decides', async () => {
  const { store, there, outage, consume } = start(2)
  store.isLost = true
  await consume()
  store.isLost = false
  await vi.advanceTimersByTimeAsync(250)
  expect(outage.state).toBe('recovering')
  there.add('bucket', 7, 60)
  expect(await consume()).toMatchObject({ isOver: false, remaining: 1 })
  expect(await consume()).toMatchObject({ isOver: false, remaining: 0 })
  expect(await consume()).toMatchObject({ isOver: true })
  expect(there.known.get('bucket')?.points).toBe(11)
})

it('a store that is lost again during the flush loses nothing', async () => {
  const { store, there, limiter } = start(1)
  store.isLost = true
  for (let bucket = 0; bucket < 250; bucket++) await limiter.consume(`bucket ${bucket}`, 10, 60)
  const { add } = there
  let added = 0
  there.add = (...args) => {
    if (++added === 150) throw new Error('lost')
    return add(...args)
  }
  store.isLost = false
  await vi.advanceTimersByTimeAsync(3_000)
  expect([...there.known.values()].map(({ points }) => points)).toEqual(Array.from({ length: 250 }, () => 1))
})

it('R8: replicas that notice at different times that an emptied store is back admit at most twice the limit', async () => {
  const [limit, replicas] = [60, 4]
  const store = { isLost: false, dataId: 1, windows: windows() }
  const fail = (): never => {
    throw new Error('lost')
  }
  const shared: SharedLimiter = {
    consume: async (...args) => (store.isLost ? fail() : store.windows.limiter.consume(...args)),
    add: async (bucket, points, _, remainingSeconds) =>
      store.isLost ? fail() : store.windows.add(bucket, points, remainingSeconds).points,
  }
  const all = Array.from({ length: replicas }, () => {
    const outage = new StoreOutage(
      async () => (store.isLost ? fail() : store.dataId),
      () => {},
    )
    return limitFallback({ shared, local: windows().limiter, processes: { among: () => replicas }, outage, observe: () => {} })
  })
  let admitted = 0
  const flood = async (ms: number, callers = all): Promise<void> => {
    for (let time = 0; time < ms; time += 10) {
      for (const limiter of callers) if (!(await limiter.consume('bucket', limit, 60)).isOver) admitted++
      await vi.advanceTimersByTimeAsync(10)
    }
  }
  await flood(500)
  expect(admitted).toBe(limit)
  store.isLost = true
  for (let at = 1; at <= replicas; at++) await flood(60, all.slice(0, at))
  await flood(1_000)
  expect(admitted).toBe(2 * limit)
  Object.assign(store, { isLost: false, dataId: 2, windows: windows() })
  await flood(10_000)
  expect(admitted).toBe(2 * limit)
})
