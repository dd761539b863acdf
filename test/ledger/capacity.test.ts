import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { startPostgres } from '../support/postgres.ts'

test('a file has its size, and that of its volume', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const { capacity, connections, close } = await openLedger(`sqlite:${join(directory, 'ledger.db')}`)
  onTestFinished(close)
  const { bytes, volume, clockOffsetMs } = await capacity()
  expect(bytes).toBeGreaterThan(4_096)
  expect(volume?.availableBytes).toBeGreaterThan(0)
  expect(volume?.bytes).toBeGreaterThan(volume?.availableBytes ?? 0)
  expect([clockOffsetMs, connections]).toEqual([undefined, undefined])
})

test('a server has the size of the database, its clock, and connections', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.close())
  const { capacity, connections, close } = await openLedger(await postgres.createLedger())
  onTestFinished(close)
  const { bytes, volume, clockOffsetMs } = await capacity()
  expect(bytes).toBeGreaterThan(1_000_000)
  expect(volume).toBeUndefined()
  expect(Math.abs(clockOffsetMs ?? Number.NaN)).toBeLessThan(500)
  const { used, idle, max } = connections?.() ?? { used: 0, idle: 0, max: 0 }
  expect([used, idle > 0, max]).toEqual([0, true, 13])
})

test('a clock that is ahead of that of the server is seen as that', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.close())
  const { capacity, close } = await openLedger(await postgres.createLedger())
  onTestFinished(close)
  const now = Date.now
  onTestFinished(() => {
    Date.now = now
  })
  Date.now = () => now() + 60_000
  expect((await capacity()).clockOffsetMs).toBeGreaterThan(59_000)
})
