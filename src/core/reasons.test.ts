import { globSync, readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, it } from 'vitest'

const files = globSync('src/core/**/*.ts').filter((file) => !file.endsWith('.test.ts'))

/** The text of each `Fault` for a client's error that has no explicit reason. */
function refusalsWithoutReason(file: string): readonly string[] {
  const source = readFileSync(file, 'utf8')
  const found: string[] = []
  new Visitor({
    NewExpression({ callee, arguments: given, start, end }) {
      const [kind, , details] = given
      if (callee.type !== 'Identifier' || callee.name !== 'Fault' || kind?.type !== 'Literal' || kind.value !== 'invalid') return
      const properties = details?.type === 'ObjectExpression' ? details.properties : []
      const names = properties.map((property) =>
        property.type === 'Property' && property.key.type === 'Identifier' ? property.key.name : '',
      )
      if (!names.includes('reason')) found.push(`${file}: ${source.slice(start, end)}`)
    },
  }).visit(parseSync(file, source).program)
  return found
}

it('each Fault for a client error has an explicit reason', () => {
  expect(files.length).toBeGreaterThan(50)
  expect(files.flatMap(refusalsWithoutReason)).toEqual([])
})
