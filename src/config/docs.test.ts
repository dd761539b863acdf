import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { configurationDocs } from '../../scripts/configuration-docs.ts'

it('docs/configuration.md matches the schema (npm run docs:configuration writes it)', () => {
  expect(readFileSync('docs/configuration.md', 'utf8')).toBe(configurationDocs())
})
