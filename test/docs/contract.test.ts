/** `docs/contract.md` names the tests of each promise: a file (`paths.test.ts` looks for it), or a row of another page. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const page = readFileSync('docs/contract.md', 'utf8')
const rowPages = ['docs/faults.md', 'docs/api.md'].map((other) => readFileSync(other, 'utf8')).join()
const known = new Set([...rowPages.matchAll(/(?<![\w/])[A-Z]\d+\b/g)].map(([row]) => row))

/** The last cells of the tables whose last column is "Held by". */
const held = [...page.matchAll(/^\|.*\| Held by \|\n\|[-|]+\|\n((?:\|.*\|\n)+)/gm)]
  .flatMap(([, lines = '']) => lines.trimEnd().split('\n'))
  .map((line) => ({ line, cell: line.split(' | ').at(-1) ?? '' }))

it('names a test for each promise', () => {
  expect(held.length).toBeGreaterThan(100)
  expect(held.filter(({ cell }) => !/\.test\.ts`|\b[A-Z]\d+\b/.test(cell)).map(({ line }) => line)).toEqual([])
})

it('names rows that are described', () => {
  const rows = held.flatMap(({ cell }) => [...cell.matchAll(/(?<![\w/])[A-Z]\d+\b/g)].map(([row]) => row))
  expect(rows.length).toBeGreaterThan(60)
  expect(rows.filter((row) => !known.has(row))).toEqual([])
})

it('has the eighteen sections in order', () => {
  const sections = [...page.matchAll(/^## (\d+)\. /gm)].map(([, section]) => Number(section))
  expect(sections).toEqual(Array.from({ length: 18 }, (_, at) => at + 1))
})
