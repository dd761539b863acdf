/** Comments and documents cite a section as docs/contract.md §10 or docs/service.md §8: in this style alone, and it is there. */
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** They share one numbering. */
const contractPages = ['docs/contract.md', 'docs/contract-operators.md'] as const
const pages = [...contractPages, 'docs/service.md'] as const

const sections: ReadonlyMap<string, ReadonlySet<string>> = new Map(pages.map((page) => [page, sectionsOf(page)]))
const ofContract = new Set(contractPages.flatMap((page) => [...sectionsOf(page)]))
/** What a page means where it names no document. */
const ownSections = new Map([...sections, ...contractPages.map((page) => [page, ofContract] as const)])

const folders = ['src', 'test', 'bench', 'scripts', 'docs', 'config', 'dashboards', 'deploy', 'examples']
const files = [...folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,js,md,qnt,yaml,yml,sh}`)), ...globSync('*.md')]

// Written so that this file is in the style itself.
const [sign, part, spec] = ['\u00a7', 'part', 'spec']
const number = String.raw`\d+(?:\.\d+)*`
/** A document, if one is named, and the sections of it. */
const citation = new RegExp(`(?:(docs/[\\w-]+\\.md|RFC \\d+|W3C Trace Context,) )?${sign}(${number}(?:, ${sign}${number})*)`, 'g')
const otherStyle = /\bspec\/(?:contract|service)|\b(?:contract|service)(?:\.md)?`?,? (?:section|part) \d/gi

function sectionsOf(page: string): ReadonlySet<string> {
  const headings = readFileSync(page, 'utf8').matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm)
  return new Set([...headings].map(([, section = '']) => section))
}

function signsIn(text: string): number {
  return text.split(sign).length - 1
}

/** Sections in a page that has them are its own, or of the contract's other page, where no document is named. */
function problemsIn(file: string, text: string): readonly string[] {
  const citations = [...text.matchAll(citation)]
  const missing = citations.flatMap(([whole, document, cited = '']) => {
    if (document !== undefined && /^(?:RFC|W3C)/.test(document)) return []
    const known = document === undefined ? ownSections.get(file) : sections.get(document)
    if (!known) return [`${whole}: names no document that has sections`]
    const unknown = cited.replaceAll(sign, '').split(', ')
    return unknown.filter((section) => !known.has(section)).map((section) => `${document ?? file} has no section ${section}`)
  })
  const isStray = signsIn(text) !== signsIn(citations.map(([whole]) => whole).join(''))
  return [
    ...missing,
    ...(isStray ? ['a section sign without a number'] : []),
    ...[...text.matchAll(otherStyle)].map(([whole]) => `${whole}: another style`),
  ]
}

it('every section that is cited is there', () => {
  const texts = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  const cited = texts.flatMap(({ text }) => [...text.matchAll(citation)])
  expect(cited.length).toBeGreaterThan(90)
  expect(texts.flatMap(({ file, text }) => problemsIn(file, text).map((problem) => `${file}: ${problem}`))).toEqual([])
})

describe('what would be found', () => {
  it.each([
    [`docs/contract.md ${sign}99`, 'docs/contract.md has no section 99'],
    [`docs/contract.md ${sign}3, ${sign}3.99`, 'docs/contract.md has no section 3.99'],
    [`docs/service.md ${sign}10.2`, 'docs/service.md has no section 10.2'],
    [`as in ${sign}3`, `${sign}3: names no document that has sections`],
    [`the contract ${sign}3`, `${sign}3: names no document that has sections`],
    [`docs/forms.md ${sign}3`, `docs/forms.md ${sign}3: names no document that has sections`],
    [`docs/contract.md ${sign} 3`, 'a section sign without a number'],
    [`docs/service.md, ${part} 4`, `service.md, ${part} 4: another style`],
    [`${spec}/contract.md`, `${spec}/contract: another style`],
  ])('%s', (text, problem) => {
    expect(problemsIn('src/a.ts', text)).toEqual([problem])
  })

  it.each([`docs/contract.md ${sign}3.4, ${sign}10`, `docs/service.md ${sign}8.`, `RFC 9110 ${sign}15.4.5`])('not %s', (text) => {
    expect(problemsIn('src/a.ts', text)).toEqual([])
  })
})
