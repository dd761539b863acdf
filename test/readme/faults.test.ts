/** `docs/faults.md` and `docs/api.md` name tests: they are there, and every row has one. */
import { describe, expect, it } from 'vitest'
import { hasTest, promisesOf } from './rows.ts'

const span = (letter: string, last: number): readonly string[] => Array.from({ length: last }, (_, at) => `${letter}${at + 1}`)
const promised = {
  'docs/faults.md': ['M6', ...span('L', 21), 'L49', 'L50', 'L51', 'L55', ...span('A', 14), 'X7', 'I1', 'I2', 'I3', 'I6', 'I11'],
  'docs/api.md': span('S', 10),
}

describe.each(Object.entries(promised))('%s', (page, rows) => {
  const { text, tests } = promisesOf(page)
  const shown = new Set(tests.flatMap((test) => test.rows))

  it('names tests that are there', () => {
    expect(tests.length).toBeGreaterThan(10)
    expect(tests.filter(({ file, title }) => !hasTest(file, title))).toEqual([])
  })

  it.each(rows)('says what %s promises, and which test shows it', (row) => {
    expect(text).toMatch(new RegExp(`\\b${row}\\b`))
    expect(shown).toContain(row)
  })

  it('names no row that the page does not explain', () => {
    const unexplained = [...shown].filter((row) => !new RegExp(`\\b${row}\\b`).test(text))
    expect(unexplained).toEqual([])
  })
})
