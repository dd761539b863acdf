import { globSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { breaches, forTests } from './imports/breaches.ts'
import { circles } from './imports/circles.ts'
import type { Sources } from './imports/read.ts'

function sourcesOf(directory: string): Sources {
  const files = globSync('**/*.{ts,js}', { cwd: directory }).filter((file) => !forTests.test(file))
  return Object.fromEntries(files.map((file) => [file, readFileSync(`${directory}/${file}`, 'utf8')]))
}

it('every folder of src/ imports only what it may', () => {
  const sources = sourcesOf('src')
  expect(Object.keys(sources).length).toBeGreaterThan(50)
  expect(breaches(sources)).toEqual([])
})

it('no files import each other in a circle', () => {
  expect(circles(sourcesOf('src'))).toEqual([])
  expect(
    circles({ 'a/b.ts': "import './c.ts'", 'a/c.ts': "import type { X } from '../d.ts'", 'd.ts': "export * from './a/b.ts'" }),
  ).toEqual(['a/b.ts -> a/c.ts -> d.ts'])
})

it('no shared module of the tests has a hook of its own', () => {
  const shared = globSync('test/**/*.ts').filter((file) => !file.endsWith('.test.ts') && file !== 'test/support/setup.ts')
  expect(shared.length).toBeGreaterThan(100)
  const hooks = /^(?:before|after)(?:Each|All)\(/m
  expect(shared.filter((file) => hooks.test(readFileSync(file, 'utf8')))).toEqual([])
})

it('no test changes the environment of the process that it shares with others, but with vi.stubEnv', () => {
  const tests = globSync(['test/**/*.test.ts', 'src/**/*.test.ts'])
  const change = /^\s*(?:delete )?process\.env(?:\.\w+|\[\w+\])(?: =|$)/m
  expect('  delete process.env.HOME\n').toMatch(change)
  expect('  process.env.HOME = directory\n').toMatch(change)
  expect(tests.filter((file) => change.test(readFileSync(file, 'utf8')))).toEqual([])
})

it('docs/architecture.md has a row for every folder and file of src/', () => {
  const rows = [...readFileSync('docs/architecture.md', 'utf8').matchAll(/^\| (`.*?) \| .*\?.* \| .+ \|$/gm)].map(
    ([, names = '']) => names,
  )
  const named = rows.flatMap((names) => names.split(', ').map((name) => name.replaceAll(/[`/]/g, '')))
  expect(named.sort()).toEqual(
    readdirSync('src')
      .filter((name) => !forTests.test(name))
      .sort(),
  )
})

describe('what would be found', () => {
  it.each([
    ['domain/a.ts', "import 'zod'", 'imports npm:zod'],
    ['domain/a.ts', "import { bech32 } from '@scure/base'", 'imports npm:@scure/base'],
    ['domain/address/a.ts', "import 'node:fs'", 'imports node:fs'],
    ['domain/a.ts', "import '../wire/form.ts'", 'imports wire/form.ts'],
    ['wire/a.ts', "export { x } from '../core/layer.ts'", 'imports core/layer.ts'],
    ['wire/a.ts', "export * from '../forms/a.ts'", 'imports forms/a.ts'],
    ['forms/a.ts', "import { formB } from './b.ts'", 'imports forms/b.ts'],
    ['edges/a.ts', "const form = await import('../forms/a.ts')", 'imports forms/a.ts'],
    ['edges/a.ts', 'const form = await import(name)', 'imports ?'],
    ['core/a.ts', "type Form = import('../wire/form.ts').Form", 'imports wire/form.ts'],
    ['core/a.ts', "import type {\n  Form,\n} from '../wire/form.ts'", 'imports wire/form.ts'],
    ['core/a.ts', "import { hash } from 'node:crypto'", 'imports node:crypto'],
    ['adapters/a.ts', "import { b } from './b.ts'", 'imports adapters/b.ts'],
    ['adapters/a/c.ts', "import { b } from '../b.ts'", 'imports adapters/b.ts'],
    ['adapters/a.ts', "import { limits } from '../core/limits.ts'", 'imports core/limits.ts'],
    ['adapters/a.ts', "import 'undici'\nimport 'express'", 'has 2 libraries'],
    ['sandbox/a.ts', "import '../adapters/sqlite.ts'", 'imports adapters/sqlite.ts'],
    ['sandbox/a.ts', "import './fixture.ts'", 'imports sandbox/fixture.ts'],
    ['config/a.ts', "import '../process/start.ts'", 'imports process/start.ts'],
    ['gateway.ts', "import './adapters/undici.ts'", 'imports adapters/undici.ts'],
    ['gateway/a.ts', "import '../gateway.ts'", 'imports gateway.ts'],
    ['config/a.ts', 'const { HOME } = process.env', 'reads the environment'],
    ['index.ts', "const home = process['env'].HOME", 'reads the environment'],
    ['index.ts', 'const { env } = process', 'reads the environment'],
    ['index.ts', "import { env } from 'node:process'", 'reads the environment'],
    ['core/a.ts', "const isOne = form.name === 'A'", "branches on a form's name"],
    ['core/a.ts', 'if ("B" != name) send()', "branches on a form's name"],
    ['core/a.ts', 'const words = { text: `a ChangeNOW swap` }', 'names a provider'],
    ['core/a.ts', "switch (name) {\n  case 'B':\n}", "branches on a form's name"],
    ['new/a.ts', "import '../domain/fault.ts'", 'imports domain/fault.ts'],
    ['core/access/a.ts', "import { c } from '../creation/c.ts'", 'imports core/creation/c.ts'],
    ['operator/routes/a.ts', "import { b } from '../../cli/b.ts'", 'imports cli/b.ts'],
    ['cli/a.ts', "import { b } from '../operator/b.ts'", 'imports operator/b.ts'],
    ['process/a.ts', "import { b } from '../cli/b.ts'", 'imports cli/b.ts'],
    ['process/a.ts', "import express from 'express'", 'imports npm:express'],
    ['core/a.ts', "import { b } from './access/b.ts'", 'imports core/access/b.ts'],
    ['core/transactions/a.ts', "import { b } from '../creation/b.ts'", 'imports core/creation/b.ts'],
    ['core/other/a.ts', "import { b } from '../b.ts'", 'imports core/b.ts'],
  ])('in %s: %s', (file, source, breach) => {
    expect(breaches({ [file]: source })).toEqual([`${file} ${breach}`])
  })

  it('and nothing in comments and texts, nor what is allowed', () => {
    const quiet = "// import './x.ts'\n/* process.env, import('zod') */\nconst text = \"import 'zod' from '../wire/form.ts'\"\n"
    expect(breaches({ 'domain/a.ts': `${quiet}import { b } from './b.ts'` })).toEqual([])
    const library =
      "import cors from 'cors'\nimport 'cors/lib'\nimport type { RequestHandler } from 'express'\nimport { send } from './express.ts'\n"
    expect(breaches({ 'adapters/http/cors.ts': `${library}import type { Limiter } from '../../core/limits.ts'` })).toEqual([])
  })
})
