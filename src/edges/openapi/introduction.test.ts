import { readFileSync } from 'node:fs'
import { expect, it, test } from 'vitest'
import { faultTable, reasons } from '../../domain/fault.ts'
import { reasonGuide, reasonTable } from './introduction.ts'

it('S11: docs/errors.md and the OpenAPI documents have the same table of every reason', () => {
  expect(readFileSync('docs/errors.md', 'utf8')).toContain(`\n${reasonTable()}\n`)
  expect(Object.keys(reasonGuide)).toEqual(reasons)
})

test.each(Object.entries(faultTable))('a fault of kind %s without a reason has a reason of its status', (_, { reason, status }) => {
  expect(reasonGuide[reason].statuses).toContain(status)
})
