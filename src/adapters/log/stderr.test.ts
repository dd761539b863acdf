import { expect, it } from 'vitest'
import { openStderr } from './stderr.ts'

it('gateways that are started one after another in a process add no listeners to its standard error', () => {
  openStderr()
  const before = process.stderr.listenerCount('error')
  for (let start = 0; start < 12; start++) openStderr()
  expect(process.stderr.listenerCount('error')).toBe(before)
})
