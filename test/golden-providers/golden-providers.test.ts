import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ops } from '../../src/domain/service.ts'
import { providerFormNamed } from '../../src/forms/index.ts'
import { checkProviderGolden, checkProviderPromises } from './check.ts'
import { readProviderGoldens } from './golden.ts'
import { providerPromises } from './promises.ts'

describe.each(Object.entries(providerPromises))('the goldens of the provider form %s', (name, promises) => {
  const form = providerFormNamed(name)
  const goldens = readProviderGoldens(name)

  it.each(goldens.map((golden) => [golden.title, golden.file, golden] as const))('%s (%s)', async (_, __, golden) => {
    await checkProviderGolden(form, golden)
  })

  it('cover every operation, successful and refused', () => {
    const answered = new Set(goldens.filter(({ outcome }) => outcome.fault === undefined).map(({ request }) => request.op))
    const refused = new Set(goldens.filter(({ outcome }) => outcome.fault !== undefined).map(({ request }) => request.op))
    const known = [...ops.filter((op) => form.operation(op) !== undefined), ...form.actions.keys()]
    expect([...answered].sort()).toEqual([...known].sort())
    expect([...refused]).toEqual(expect.arrayContaining(ops.filter((op) => op !== 'listCurrencies')))
  })

  it('its name, keyed operations, order, pages and words for networks are as promised', () => {
    checkProviderPromises(form, promises)
  })
})

it('every golden belongs to a form', () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map((folder) => folder.name).sort()).toEqual(Object.keys(providerPromises).sort())
})
