/** The program of the package, and a new ledger, for tests that start it often. */
import { constants, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildProgram } from '../../scripts/program.ts'
import { openLedger } from '../../src/ledger/index.ts'

const variable = 'SWAPGATE_BUNDLE'
const ledgerFile = 'ledger.db'
const ledgerWriter = fileURLToPath(new URL('../ledger/writer.ts', import.meta.url))

/** For vitest, before and after all: the program in the layout of the package, built from the sources as they are now. */
export default async function setup(): Promise<(() => void) | undefined> {
  if (process.env[variable] !== undefined) return undefined
  mkdirSync('node_modules/.cache', { recursive: true })
  const root = mkdtempSync(join(process.cwd(), 'node_modules/.cache/swapgate-bundle-'))
  const program = join(root, 'dist/cli')
  await buildProgram(program, { writer: ledgerWriter })
  cpSync('src/cli/swapgate.js', join(root, 'src/cli/swapgate.js'))
  cpSync('config', join(root, 'config'), { recursive: true })
  cpSync('package.json', join(root, 'package.json'))
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'))
  await (await openLedger(`sqlite:${join(root, ledgerFile)}`)).close()
  process.env[variable] = join(root, 'src/cli/swapgate.js')
  return () => rmSync(root, { recursive: true })
}

/** The path of the program that tests start. */
export function bundledProgram(): string {
  const path = process.env[variable]
  if (path === undefined) throw new Error('The program is built before the tests (vitest.config.ts).')
  return path
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
