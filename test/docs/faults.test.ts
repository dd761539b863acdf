/** `docs/faults.md` and `docs/api.md` name tests: they are there, and every row has one. */
import { describe, expect, it } from 'vitest'
import { hasTest, promisesOf } from './rows.ts'

const span = (letter: string, last: number): readonly string[] => Array.from({ length: last }, (_, at) => `${letter}${at + 1}`)
/** Rows that a page may not lose; those that it has beside them are read from its tables. */
const promised = {
  'docs/faults.md': [
    'M6',
    ...span('M', 28).slice(19),
    ...span('M', 39).slice(29),
    ...span('L', 29),
    ...['L36', 'L37', 'L38', 'L39', 'L40', 'L41', 'L42', 'L43', 'L45'],
    ...span('L', 55).slice(45),
    ...span('L', 71).slice(60),
    'I12',
    ...span('A', 14),
    'X7',
    'H24',
    'H25',
    'H50',
    'H51',
    'H52',
    'H53',
    'R16',
    'R17',
    'R18',
    'R19',
    'R20',
    'R21',
    'R22',
    'R23',
    ...span('U', 30).slice(25),
    'I1',
    'I2',
    'I3',
    'I6',
    'I11',
    'S11',
    'S12',
    'S13',
    'S14',
    'S15',
    'V29',
    'V30',
    'P20',
    ...span('W', 21),
    ...span('O', 11),
    ...span('N', 20),
    ...span('P', 20),
    ...span('P', 36).slice(30),
    'P40',
    'P41',
    'P42',
    'P60',
  ],
  'docs/api.md': span('S', 10),
}

/** R9 promises nothing to be tested; what X5 promises is measured by `npm run bench:overload`. */
const untested: ReadonlySet<string> = new Set(['R9', 'X5'])

/** The rows in the last cell of a line of a table. */
function rowsIn(text: string): readonly string[] {
  const rows = [...text.matchAll(/\| ([A-Z]\d+(?:, [A-Z]\d+)*) \|$/gm)].flatMap(([, cell = '']) => cell.split(', '))
  return rows.filter((row) => !untested.has(row))
}

describe.each(Object.entries(promised))('%s', (page, rows) => {
  const { text, tests } = promisesOf(page)
  const shown = new Set(tests.flatMap((test) => test.rows))

  it('names tests that are there', () => {
    expect(tests.length).toBeGreaterThan(10)
    expect(tests.filter(({ file, title }) => !hasTest(file, title))).toEqual([])
  })

  it.each([...new Set([...rows, ...rowsIn(text)])])('has the promise of %s, and its test', (row) => {
    expect(text).toMatch(new RegExp(`\\b${row}\\b`))
    expect(shown).toContain(row)
  })

  it('names no row that the page does not explain', () => {
    const unexplained = [...shown].filter((row) => !new RegExp(`\\b${row}\\b`).test(text))
    expect(unexplained).toEqual([])
  })
})
