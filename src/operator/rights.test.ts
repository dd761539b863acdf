import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { possibleRoles } from './rights.ts'

it('docs/contract-operators.md §15 has each right that is more than reading', () => {
  const rows = readFileSync('docs/contract-operators.md', 'utf8').matchAll(
    /^\| `(GET|POST|PATCH|DELETE) (\/api\/[^`<]*)` \| (.*) \|$/gm,
  )
  const told = [...rows].map(([, method = '', path = '', roles = '']) => ({ method: method.toLowerCase() as 'get', path, roles }))
  expect(told.length).toBeGreaterThan(20)
  for (const { method, path, roles } of told)
    expect(
      [...roles.matchAll(/`(operate|money)`/g)].map(([, role]) => role),
      path,
    ).toEqual(possibleRoles({ method, path }))
})

it('a route that the table lacks is an error', () => {
  expect(() => possibleRoles({ method: 'get', path: '/api/nothing' })).toThrow('The table of rights lacks GET /api/nothing.')
})
