import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { formatForTerminal } from './index.ts'

test('a readable line: the time, the level, the event, and the rest as pairs', () => {
  const line = formatForTerminal(
    `${JSON.stringify({ level: 'warn', time: '2026-11-20T15:04:05.678Z', event: 'request', route: '/a/api/v2/transactions/{id}', status: 504 })}\n`,
  )
  expect(stripVTControlCharacters(line)).toBe('15:04:05.678 warn  request route=/a/api/v2/transactions/{id} status=504\n')
})

test('control characters stay escaped', () => {
  const line = formatForTerminal(
    `${JSON.stringify({ level: 'error', time: '2026-11-20T15:04:05.678Z', event: 'reload', warnings: ['\u001b[31mred\n\u009bx'] })}\n`,
  )
  expect(line).toContain('\\u001b[31mred\\n\\u009bx')
})
