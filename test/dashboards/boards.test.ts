import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dashboards } from '../../dashboards/src/index.ts'
import { boards, type Panel, panelsOf } from './board.ts'

const all = boards().flatMap((board) => panelsOf(board).map((panel) => ({ name: `${board.title}: ${panel.title}`, board, panel })))

it('are what the code makes of them (npm run dashboards)', () => {
  const written = boards().map(({ file }) => [file.replace('dashboards/', ''), readFileSync(file, 'utf8')] as const)
  expect(Object.fromEntries(written)).toEqual(dashboards())
  expect(written).toHaveLength(4)
})

it.each(all)('have instructions, a unit and a legend: $name', ({ panel }) => {
  const { description = '', fieldConfig, targets = [] } = panel
  expect(description.length).toBeGreaterThan(20)
  expect(fieldConfig?.defaults.unit).toBeTruthy()
  expect(targets.length).toBeGreaterThan(0)
  for (const { legendFormat } of targets) expect(legendFormat).not.toBe('')
})

it.each(all)('use only variables that they have: $name', ({ board, panel }) => {
  const known = [...board.templating.list.map(({ name }) => name), '__rate_interval', '__range']
  const used = [...JSON.stringify(panel).matchAll(/\$\{?([a-z_]\w*)/g)].map(([, name]) => name)
  expect(used.filter((name) => !known.includes(name ?? ''))).toEqual([])
})

it('put no panel over another, or outside', () => {
  const cells = ({ gridPos: { x, y, w, h } }: Panel): readonly string[] =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`)
  for (const { panels } of boards()) {
    const taken = panels.flatMap(cells)
    expect(new Set(taken).size).toBe(taken.length)
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  }
})

it('link only to runbooks that exist', () => {
  const links = all.flatMap(({ panel }) =>
    [...(panel.description ?? '').matchAll(/\$\{runbooks\}\/(\w+\.md)/g)].map(([, page]) => page ?? ''),
  )
  expect(links.length).toBeGreaterThan(20)
  expect(links.filter((page) => !existsSync(`docs/runbooks/${page}`))).toEqual([])
})

it('show every metric that docs/observability.md has', () => {
  const [page = ''] = readFileSync('docs/observability.md', 'utf8').split('### Earlier names')
  const documented = [...page.matchAll(/^\| `((?:swapgate|http|db)_\w+)` \| (?:counter|gauge|histogram)/gm)].map(
    ([, name = '']) => name,
  )
  expect(documented.length).toBeGreaterThan(70)
  const shown = all.flatMap(({ panel }) => (panel.targets ?? []).map(({ expr }) => expr)).join('\n')
  expect(documented.filter((name) => !new RegExp(`\\b${name}(?:_bucket|_count)?\\b`).test(shown))).toEqual([])
})
