/** The program of the package, and a new ledger, for tests that start it often. */
import { constants, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'
import { buildProgram } from '../../scripts/program.ts'
import { openLedger } from '../../src/ledger/index.ts'

const variable = 'SWAPGATE_BUNDLE'
const ledgerFile = 'ledger.db'
const start = 'src/cli/swapgate.js'
const ledgerWriter = fileURLToPath(new URL('../ledger/writer.ts', import.meta.url))

/** For vitest, before and after all: the program in the layout of the package, built from the sources as they are now. */
export default async function setup(): Promise<(() => void) | undefined> {
  if (process.env[variable] !== undefined) return undefined
  const root = await bundle({ writer: ledgerWriter })
  await (await openLedger(`sqlite:${join(root, ledgerFile)}`)).close()
  process.env[variable] = join(root, start)
  return () => rmSync(root, { recursive: true })
}

/** Returns the directory. */
async function bundle(more: Readonly<Record<string, string>>, plugins: Plugin[] = []): Promise<string> {
  mkdirSync('node_modules/.cache', { recursive: true })
  const root = mkdtempSync(join(process.cwd(), 'node_modules/.cache/swapgate-bundle-'))
  await buildProgram(join(root, 'dist/cli'), more, plugins)
  cpSync(start, join(root, start))
  cpSync('config', join(root, 'config'), { recursive: true })
  cpSync('package.json', join(root, 'package.json'))
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'))
  return root
}

/** The path of the program that tests start. */
export function bundledProgram(): string {
  const path = process.env[variable]
  if (path === undefined) throw new Error('The program is built before the tests (vitest.config.ts).')
  return path
}

/** The name of the step. */
export const furtherStep = 'notes of swaps'

/** What the next version may be: the schema of this one, and a step of the next schema. */
const withFurtherStep: Plugin = {
  name: 'further step',
  transform: {
    filter: { id: /\/src\/ledger\/schema\/steps\.ts$/ },
    handler: (module) => `${module}
      steps['${furtherStep}'] = { schema: schemaNumber() + 1, kind: 'expand', statements: ({ integer, text }) => [
        \`ALTER TABLE transactions ADD COLUMN note \${text}\`,
        \`CREATE TABLE notes (id \${text} PRIMARY KEY, at \${integer} NOT NULL)\`,
      ] }`,
  },
}

/** The program of this checkout with a further step in its schema. */
export async function bundleWithFurtherStep(): Promise<{ readonly program: string; readonly remove: () => void }> {
  const root = await bundle({}, [withFurtherStep])
  return { program: join(root, start), remove: () => rmSync(root, { recursive: true }) }
}

/** A SQLite ledger with the schema and nothing else, at a path where none is: the steps of its schema take ten times the work. None in a bench. */
export function copyLedger(path: string): void {
  if (process.env[variable] === undefined) return
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  copyFileSync(join(dirname(bundledProgram()), '../..', ledgerFile), path, constants.COPYFILE_EXCL)
}

/** The path of `test/ledger/writer.ts`, with what it imports. */
export function bundledLedgerWriter(): string {
  return join(dirname(bundledProgram()), '../../dist/cli/writer.js')
}
