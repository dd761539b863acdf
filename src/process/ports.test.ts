import { afterEach, expect, it, vi } from 'vitest'
import { cacheShares } from '../domain/bounded-map.ts'
import { limitCacheMemory, memoryLimit } from './ports.ts'

afterEach(() => {
  vi.restoreAllMocks()
  limitCacheMemory()
})

it.each([64, 512, 1_000_000])('in a container with %i MiB all caches may take a quarter of the memory together', (mebibytes) => {
  vi.spyOn(process, 'constrainedMemory').mockReturnValue(mebibytes * 1_048_576)
  limitCacheMemory()
  const sum = Object.values(cacheShares).reduce((bytes, { maxBytes }) => bytes + maxBytes, 0)
  expect(memoryLimit()).toBeLessThanOrEqual(mebibytes * 1_048_576)
  expect(sum).toBeLessThanOrEqual(memoryLimit() / 4)
  expect(sum).toBeGreaterThan(0.98 * (memoryLimit() / 4))
})

it.each([0, 2 ** 64])('where %d is the limit of the container there is none', (limit) => {
  vi.spyOn(process, 'constrainedMemory').mockReturnValue(limit)
  expect(memoryLimit()).toBeGreaterThan(16 * 1_048_576)
  expect(memoryLimit()).toBeLessThan(2 ** 50)
})
