/** Pages that list promises by short names, and at their end their tests. */
import { readFileSync } from 'node:fs'

export interface Promises {
  /** All before the list of tests. */
  readonly text: string
  readonly tests: readonly { readonly rows: readonly string[]; readonly file: string; readonly title: string }[]
}

export function promisesOf(page: string): Promises {
  const [text = '', tests = ''] = readFileSync(page, 'utf8').split('## The tests')
  const lines = [...tests.matchAll(/^\| (.*?) \| `(\S+\.test\.ts)` \| (.+) \|$/gm)]
  return {
    text,
    tests: lines.map(([, rows = '', file = '', title = '']) => ({
      rows: [...rows.matchAll(/[A-Z]\d+/g)].map(([row]) => row),
      file,
      title,
    })),
  }
}

/** Whether the file has a test of that title: as a whole text, or as the fixed beginning of one. */
export function hasTest(file: string, title: string): boolean {
  const source = readFileSync(file, 'utf8').replaceAll("\\'", "'")
  return [`'${title}',`, `"${title}",`, `\`${title}\`,`, `\`${title}\${`].some((text) => source.includes(text))
}
