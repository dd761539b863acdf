import { expect, it } from 'vitest'
import { intentIdOf, isIntentIdOf } from './intent-id.ts'

it('is a UUID that only its owner has', () => {
  const ids = Array.from({ length: 1_000 }, () => intentIdOf('acme'))
  expect(new Set(ids).size).toBe(1_000)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(ids.every((id) => isIntentIdOf(id, 'acme') && isIntentIdOf(id.toUpperCase(), 'acme'))).toBe(true)
  expect(ids.some((id) => isIntentIdOf(id, 'other'))).toBe(false)
})

it.each(['', 'x', '7d4f3c1e-5a0b-4c3d-9e8f-001122334455', '🦊'.repeat(40)])('%s is nobody’s', (id) => {
  expect(isIntentIdOf(id, 'acme')).toBe(false)
})
