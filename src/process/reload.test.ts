import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { signaturesOf, watchFiles } from './reload.ts'

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'swapgate-watch-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

it('a file that cannot be examined any more has changed, as one that is gone', async () => {
  const file = join(directory(), 'gateway.yaml')
  writeFileSync(file, '')
  const before = signaturesOf([file])
  rmSync(file)
  symlinkSync(file, file)
  expect([...signaturesOf([file, '/dev/null/none', '/none'])]).toEqual([
    [file, ''],
    ['/dev/null/none', ''],
    ['/none', ''],
  ])
  const { promise, resolve } = Promise.withResolvers<void>()
  onTestFinished(watchFiles(before, resolve))
  await promise
})
