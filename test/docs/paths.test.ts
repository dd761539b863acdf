import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const documents = [...globSync('docs/**/*.md'), 'README.md', 'CONTRIBUTING.md']

/** The file that the reader of `docs/forms.md` writes. */
const unwritten = 'src/forms/c.ts'

/** Relative to the root, or to `src/`. */
const pathsIn = (document: string): readonly string[] =>
  [...readFileSync(document, 'utf8').matchAll(/`([a-z][\w-]*(?:\/[\w.-]+)+\.ts)`/g)].map(([, path]) => path as string)

test('documents name only source files that are there', () => {
  const named = documents.flatMap((document) => pathsIn(document).map((path) => ({ document, path })))
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ path }) => path !== unwritten && !existsSync(path) && !existsSync(`src/${path}`))).toEqual([])
})
