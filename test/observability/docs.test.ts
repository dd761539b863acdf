/** `docs/observability.md` lists exactly the metrics, fields and spans that exist. */

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createMetrics } from '../../src/adapters/metrics/index.ts'
import { errorTypes } from '../../src/domain/fault.ts'
import { nothingToRead } from '../support/metrics-options.ts'
import { requestFields } from './log-lines.ts'

const text = readFileSync('docs/observability.md', 'utf8')
const rows = text.split('\n').filter((line) => line.startsWith('| `'))
const firstCells = rows.map((row) => /^\| `([^`]+)`/.exec(row)?.[1] ?? '')

it('every metric, with its kind, and no other', async () => {
  const metrics = createMetrics({
    ...nothingToRead,
    isCounting: true,
    providers: () => [],
    formOf: () => 'none',
    readLedgerGauges: async () => ({ unfinished: [], unresolvedCounts: [], attentionCounts: [], watchedCounts: [] }),
    version: '1',
    commit: 'abc123',
    schema: 2,
    droppedLines: () => 0,
    readRequestCounts: () => undefined,
  })
  const { text: printed } = await metrics.print('')
  const made = [...printed.matchAll(/^# TYPE ((?:swapgate|http|db)_\S+) (\w+)$/gm)].map(([, name, kind]) => `${name} ${kind}`)
  const listed = rows.flatMap((row) => {
    const [, name, kind] = /^\| `((?:swapgate|http|db)_\w+)` \| (\w+) \|/.exec(row) ?? []
    return name === undefined ? [] : [`${name} ${kind}`]
  })
  expect(listed.toSorted()).toEqual(made.toSorted())
})

it('every error type in its order, and no other', () => {
  expect(firstCells.slice(1, errorTypes.length + 1)).toEqual(errorTypes)
})

it('every field of a line about a request', () => {
  const row = rows.find((line) => line.startsWith('| `request`')) ?? ''
  for (const field of requestFields) if (!['level', 'time', 'event'].includes(field)) expect(row).toContain(`\`${field}\``)
})
