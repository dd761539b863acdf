/** Comments name the key of the configuration that an option comes from, with its default: `limits.window` (default: 60 seconds). */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const citation = /`([a-z]\w*(?:\.(?:\w+|<name>))+)`\s+(?:\*\s+)?\(default: ([^)]+)\)/g

/** The default of each key in `docs/configuration.md`, alone and with its unit. */
const defaults: ReadonlyMap<string, readonly string[]> = new Map(
  [...readFileSync('docs/configuration.md', 'utf8').matchAll(/^\| `([^`]+)` \| `([^`]+)` \| ([^|]*) \|/gm)].map(
    ([, key = '', value = '', unit = '']) => [key, [value, `${value} ${unit}`.trim()]],
  ),
)

it('every default that a comment names is that of the schema', () => {
  const texts = globSync('src/**/*.ts').map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  const cited = texts.flatMap(({ file, text }) =>
    [...text.matchAll(citation)].map(([, key = '', value = '']) => ({ file, key, value: value.replace(/\s+\*\s+/, ' ') })),
  )
  expect(cited.length).toBeGreaterThan(20)
  expect(cited.filter(({ key, value }) => !defaults.get(key)?.includes(value))).toEqual([])
})
