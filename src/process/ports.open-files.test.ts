import { expect, test } from 'vitest'
import { maxConnections, openFilesLimit } from './ports.ts'

test.each([
  ['public', 10_000, 1_024, 512],
  ['public', 100, 1_024, 100],
  ['public', 10_000, 1, 1],
  ['admin', 64, 1_024, 64],
  ['admin', 64, 120, 15],
] as const)(
  'X2: of the %s port, of %i connections that are wanted, with %i open files allowed: %i',
  (port, wanted, allowed, most) => {
    expect(maxConnections(port, wanted, allowed)).toBe(most)
  },
)

test('the system reports its limit', () => {
  const limit = openFilesLimit()
  if (process.platform !== 'win32') expect(limit).toBeGreaterThan(0)
})
