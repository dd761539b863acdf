/** docs/contract-operators.md §13: the files of the ledger and the sandbox are readable by their owner only. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig, packagedConfigFile } from '../../src/config/index.ts'
import { knownForms } from '../../src/forms/index.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { openSandbox } from '../../src/process/sandbox.ts'
import { facts } from './samples.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-privacy-'))
  chmodSync(directory, 0o755)
})
afterEach(() => rmSync(directory, { recursive: true }))

/** The rights of each file in the directory, by name. */
function rightsIn(place: string): Record<string, string> {
  return Object.fromEntries(readdirSync(place).map((name) => [name, rightsOf(join(place, name))]))
}

function rightsOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

async function write(file: string): Promise<void> {
  const { ledger, close } = await openLedger(`sqlite:${file}`)
  try {
    await ledger.upsert('owner', 'alpha', facts('x'))
    expect(rightsIn(join(file, '..'))).toEqual({ 'ledger.db': '600', 'ledger.db-shm': '600', 'ledger.db-wal': '600' })
  } finally {
    await close()
  }
}

test('L55: a new ledger, what SQLite writes beside it, and the directories made for it are for their owner only', async () => {
  await write(join(directory, 'made', 'here', 'ledger.db'))
  expect([rightsOf(join(directory, 'made')), rightsOf(join(directory, 'made', 'here'))]).toEqual(['700', '700'])
})

test('L55: files that others could read are tightened; a directory that was there stays as it was', async () => {
  const place = join(directory, 'place')
  mkdirSync(place, { mode: 0o755 })
  const file = join(place, 'ledger.db')
  const { close } = await openLedger(`sqlite:${file}`)
  for (const name of readdirSync(place)) chmodSync(join(place, name), 0o644)
  await write(file)
  await close()
  expect(rightsOf(place)).toBe('755')
})

test('L55: so is the state of the sandbox', async () => {
  const config = loadConfig(packagedConfigFile, knownForms, {})
  const file = join(directory, 'sandbox', 'sandbox.db')
  const sandbox = await openSandbox({ ...config, sandbox: { ...config.sandbox, port: 0, data: file } })
  expect(rightsIn(join(directory, 'sandbox'))).toEqual({ 'sandbox.db': '600', 'sandbox.db-shm': '600', 'sandbox.db-wal': '600' })
  await sandbox.close()
})
