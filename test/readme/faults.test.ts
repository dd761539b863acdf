/** `docs/faults.md` names tests: they are there, and every row of failures has one. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const page = readFileSync('docs/faults.md', 'utf8')
const [promises = '', tests = ''] = page.split('## The tests')
const named = [...tests.matchAll(/^\| (.*?) \| `(\S+\.test\.ts)` \| (.+) \|$/gm)].map(([, rows = '', file = '', title = '']) => ({
  rows: [...rows.matchAll(/[A-Z]\d+/g)].map(([row]) => row),
  file,
  title,
}))
const shown = new Set(named.flatMap(({ rows }) => rows))

const span = (letter: string, last: number): readonly string[] => Array.from({ length: last }, (_, at) => `${letter}${at + 1}`)
const promised = ['M6', ...span('L', 21), ...span('A', 14), 'X7', 'I1', 'I2', 'I3', 'I6', 'I11']

it('names tests that are there', () => {
  const missing = named.filter(({ file, title }) => !has(file, title))
  expect(missing).toEqual([])
})

it.each(promised)('says what %s promises, and which test shows it', (row) => {
  expect(promises).toMatch(new RegExp(`\\b${row}\\b`))
  expect(shown).toContain(row)
})

it('names no row that the page does not explain', () => {
  const unexplained = [...shown].filter((row) => !new RegExp(`\\b${row}\\b`).test(promises))
  expect(unexplained).toEqual([])
})

/** As a whole text, or as the fixed beginning of one. */
function has(file: string, title: string): boolean {
  const source = readFileSync(file, 'utf8').replaceAll("\\'", "'")
  return [`'${title}',`, `"${title}",`, `\`${title}\`,`, `\`${title}\${`].some((text) => source.includes(text))
}
