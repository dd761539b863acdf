import { expect, test } from 'vitest'
import { maxConnections, openFilesLimit } from './open-files.ts'

test.each([
  [10_000, 1_024, 512],
  [100, 1_024, 100],
  [10_000, 1, 1],
])('X2: of %i connections that are wanted, with %i open files allowed: %i', (wanted, allowed, most) => {
  expect(maxConnections(wanted, allowed)).toBe(most)
})

test('the system reports its limit', () => {
  const limit = openFilesLimit()
  if (process.platform !== 'win32') expect(limit).toBeGreaterThan(0)
})
