import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ops } from '../../src/domain/service.ts'
import { formA } from '../../src/forms/a.ts'
import { formB } from '../../src/forms/b.ts'
import { exolixClient } from '../../src/forms/exolix-client.ts'
import { checkGolden, checkPromises } from './check.ts'
import { promises, readGoldens } from './read.ts'

describe.each([
  ['a', formA, ['serve', 'connect']],
  ['b', formB, ['serve', 'connect']],
  ['exolix-client', exolixClient, ['serve']],
] as const)('the goldens of form %s', (name, form, edges) => {
  const goldens = readGoldens(name)

  it.each(goldens.map((golden) => [golden.title, golden.file, golden] as const))('%s (%s)', async (_, __, golden) => {
    await checkGolden(form, golden)
  })

  it('cover every operation at each edge, successful and refused', () => {
    for (const edge of edges) {
      const held = goldens.filter(({ only }) => only === undefined || only === edge)
      const operationsOf = (isRefused: boolean): ReadonlySet<string | undefined> =>
        new Set(
          held
            .filter(({ domainResponse }) => (domainResponse?.fault !== undefined) === isRefused)
            .map(({ domainRequest: request }) => request?.op),
        )
      expect([...operationsOf(false)]).toEqual(expect.arrayContaining([...ops]))
    }
  })

  it('cover every status that a provider or a client can meet', () => {
    const served = goldens.filter(({ only }) => only !== 'connect').map(({ response }) => response?.status)
    expect(served).toEqual(expect.arrayContaining([400, 401, 404, 405, 408, 409, 413, 414, 415, 422, 429, 431, 500, 502, 503, 504]))
    if (!(edges as readonly string[]).includes('connect')) return
    const connected = goldens.filter(({ only }) => only !== 'serve').map(({ response }) => response?.status)
    expect(connected).toEqual(expect.arrayContaining([400, 401, 404, 422, 429, 500]))
  })

  it('its name, credential and order are as promised', () => {
    checkPromises(form, promises[name])
  })
})

it('every golden belongs to a form', () => {
  const folders = readdirSync(join(import.meta.dirname), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map((folder) => folder.name).sort()).toEqual(Object.keys(promises))
})
