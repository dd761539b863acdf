import { expect, it } from 'vitest'
import { printable } from './printable.ts'

it.each([
  ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
  ['\u009b2J', '\\u009b2J'],
  ['a\r\nb\tc', 'a\\u000d\\u000ab\\u0009c'],
  ['\u202egnp.exe\u2028', '\\u202egnp.exe\\u2028'],
  ['\u{e0041}', '\\udb40\\udc41'],
  ['é 漢字 🙂 "x" \\', 'é 漢字 🙂 "x" \\'],
])('%j is printed as %s', (text, printed) => {
  expect(printable(text)).toBe(printed)
})

it('JSON stays the same value, in ASCII where a terminal would obey', () => {
  const value = { name: '\u009b31m\u007f\u001b[2J\u{e0041}\u2028' }
  const printed = printable(JSON.stringify(value))
  expect(printed).toMatch(/^[ -~]*$/)
  expect(JSON.parse(printed)).toEqual(value)
})
