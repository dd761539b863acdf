/** `docs/sandbox.md` has every member of a fault that can be set at the sandbox, its default, and the operations. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ops } from '../../src/domain/service.ts'
import { injectedFault } from '../../src/sandbox/faults.ts'

const [, section = ''] = readFileSync('docs/sandbox.md', 'utf8').split(/^## Faults of your own$/m)
const rows = [...section.matchAll(/^\| `(\w+)` \| (.+) \| .+ \| (.+) \|$/gm)].map(([, name, type = '', fallback]) => ({
  name,
  type,
  fallback,
}))

it('names every member', () => {
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(injectedFault.shape))
  const defaults: Readonly<Record<string, unknown>> = injectedFault.parse({ word: 'x' })
  for (const { name = '', fallback } of rows.filter(({ name }) => name !== 'word'))
    expect([name, fallback]).toEqual([name, name in defaults ? `\`${defaults[name]}\`` : '–'])
})

it('names every operation', () => {
  const [operation] = rows
  expect(operation?.type.replaceAll('`', '').split(', ')).toEqual(['all', ...ops])
})
