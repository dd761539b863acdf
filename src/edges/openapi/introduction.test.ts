import { readFileSync } from 'node:fs'
import { expect, it, test } from 'vitest'
import { faultTable, reasons } from '../../domain/fault.ts'
import { forms } from '../../forms/index.ts'
import { introduction, reasonGuide, reasonTable, type Served } from './introduction.ts'

it('S11: docs/errors.md and the OpenAPI documents have the same table of every reason', () => {
  expect(readFileSync('docs/errors.md', 'utf8')).toContain(`\n${reasonTable()}\n`)
  expect(Object.keys(reasonGuide)).toEqual(reasons)
})

test.each(Object.entries(faultTable))('a fault of kind %s without a reason has a reason of its status', (_, { reason, status }) => {
  expect(reasonGuide[reason].statuses).toContain(status)
})

const limits = { quotes: 60, create: 30, read: 120, window: 60 }
const sandboxAt = (takesKeys: boolean): Served => ({
  ...{
    isManaged: !takesKeys,
    defaultForm: 'A',
    keyInQuery: false,
    requiresIdempotencyKey: false,
    limits,
    picks: [],
    memos: 'all' as const,
  },
  sandbox: { port: 9101, takesKeys },
})

test.each(forms)('form $name names the keys of the sandbox only where the gateway takes them', (form) => {
  const texts = [introduction(form), introduction(form, sandboxAt(true)), introduction(form, sandboxAt(false))]
  expect(texts.map((text) => text.includes('sandbox-key-1'))).toEqual([true, true, false])
})

test.each([
  ['A', 'there `X-Swap-Form: A` or the header of the key selects it.'],
  ['B', 'there `X-Swap-Form: B` or the header of the key selects it.'],
  ['exolix', 'there `X-Swap-Form: exolix` selects it.'],
])('form %s says what selects it', (name, expected) => {
  const form = forms.find((one) => one.name === name)
  if (form === undefined) throw new Error(`There is no form ${name}.`)
  expect(introduction(form)).toContain(expected)
})
