/** Links of the documents lead to files that are there, and to headings in them. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const own = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'dashboards/README.md',
  ...globSync('clients/*/README.md'),
]

/** As GitHub makes an anchor of a heading. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

describe('links to files and headings that are there', () => {
  it.each([...own, ...globSync('docs/**/*.md')])('%s', (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:\s]*)(?:#([^)]*))?\)/g)]
    const broken = links.filter(([, path = '', anchor]) => {
      const file = path === '' ? page : join(dirname(page), path)
      return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).has(anchor))
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })
})
