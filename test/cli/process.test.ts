// Takes long: each command is a process.
/** The commands as processes of their own: their output and exit codes for a shell, a script or a cron job. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { TransactionRecord } from '../../src/core/ports/ledger.ts'
import type { Amount } from '../../src/domain/amount.ts'
import { isKey } from '../../src/domain/key.ts'
import { Swapgate } from '../process/swapgate.ts'
import { Place } from './place.ts'
import { actor, SwitchingPlace } from './switching-place.ts'

let place: Place
beforeEach(() => {
  place = new Place()
})
afterEach(() => place[Symbol.dispose]())

async function ended(...args: readonly string[]) {
  await using swapgate = new Swapgate([...args, '--config', place.file])
  return await swapgate.ended
}

it('keys create --json prints one JSON document and nothing else on standard output', async () => {
  const { exitCode, out } = await ended('keys', 'create', '--name', 'acme', '--expires', '90d', '--json')
  const created = JSON.parse(out)
  expect(exitCode).toBe(0)
  expect(Object.keys(created)).toEqual(['id', 'name', 'key', 'expiresAt'])
  expect(isKey(created.key)).toBe(true)
  const listed = await ended('keys', 'list', '--json')
  expect(JSON.parse(listed.out)).toEqual([expect.objectContaining({ id: created.id, name: 'acme', state: 'active' })])
  expect(listed.out).not.toContain('sg_live_')
  expect((await ended('keys', 'revoke', created.id)).exitCode).toBe(0)
  expect((await ended('keys', 'revoke', created.id)).exitCode).toBe(1)
})

it('many commands at once share one ledger, and none is lost', async () => {
  const names = ['a', 'b', 'c', 'd']
  const all = await Promise.all(names.map((name) => ended('keys', 'create', '--name', name, '--json')))
  expect(all.map(({ exitCode }) => exitCode)).toEqual(names.map(() => 0))
  const listed = await place.facts<readonly { name: string }[]>('keys', 'list')
  expect(listed.map(({ name }) => name).sort()).toEqual(names)
})

it('a command works while another process has the ledger open, and takes effect there', async () => {
  const stores = await place.stores()
  const { exitCode } = await ended('keys', 'create', '--name', 'acme')
  expect([exitCode, (await stores.accounts.listKeys()).map(({ name }) => name)]).toEqual([0, ['acme']])
  await stores.close()
})

it.each([
  ['keys', 'list'],
  ['ledger', 'stats'],
])('%s %s ends with 1 and one line if the ledger cannot be opened', async (...args) => {
  using elsewhere = new Place({ ledgerUrl: 'sqlite:/dev/null/ledger.db' })
  await using swapgate = new Swapgate([...args, '--config', elsewhere.file])
  const { exitCode, out, err } = await swapgate.ended
  expect([exitCode, out]).toEqual([1, ''])
  expect(err).toMatch(/^swapgate: The ledger in \/dev\/null\/ledger.db cannot be opened: [^\n]+\n$/)
})

it('O11: providers drain --wait --json prints one JSON document, and progress elsewhere', { timeout: 30_000 }, async () => {
  using switching = new SwitchingPlace()
  await using swapgate = new Swapgate(['providers', 'drain', 'alpha', '--wait', '--json', '--config', switching.file])
  const { exitCode, out, err } = await swapgate.ended
  expect([exitCode, err]).toEqual([0, '0 open at alpha\n'])
  expect(JSON.parse(out)).toMatchObject({ name: 'alpha', state: 'draining', wait: { outcome: 'drained', open: 0 } })
  expect(await switching.audited()).toEqual([[actor, 'provider.state', 'alpha', 'active', 'draining']])
})

it('O3: many processes at once leave a provider for new swaps', async () => {
  using switching = new SwitchingPlace()
  const drain = async (name: string) => {
    await using swapgate = new Swapgate(['providers', 'drain', name, '--config', switching.file])
    return (await swapgate.ended).exitCode
  }
  const codes = await Promise.all(['alpha', 'beta', 'alpha', 'beta'].map(drain))
  expect(new Set(codes)).toEqual(new Set([0, 1]))
  expect(await switching.audited()).toHaveLength(1)
})

it('wrong usage ends with 2', async () => {
  expect((await ended('keys', 'create')).exitCode).toBe(2)
})

/** `to`: where a shell sends the output. */
async function inShell(to: string, ...args: readonly string[]) {
  const program = ['-c', `"$0" src/cli/swapgate.js "$@" ${to}`, process.execPath, ...args, '--config', place.file]
  const child = spawn('bash', ['-o', 'pipefail', ...program])
  const ending = once(child, 'close')
  const err = Buffer.concat(await child.stderr.toArray()).toString()
  const [exitCode] = await ending
  return { exitCode, err }
}

it.runIf(existsSync('/dev/full'))(
  'an output on a full disk is a failure in one line, and a key that nobody has is revoked',
  async () => {
    const created = await inShell('> /dev/full', 'keys', 'create', '--name', 'acme', '--json')
    expect([created.exitCode, created.err]).toEqual([1, expect.stringContaining(' of acme could not be written: it is revoked\n')])
    expect(await place.facts('keys', 'list')).toEqual([expect.objectContaining({ state: 'revoked' })])
    for (const args of [['keys', 'list'], ['check'], ['audit', '--json'], ['--help']]) {
      const { exitCode, err } = await inShell('> /dev/full', ...args)
      expect([exitCode, err]).toEqual([1, 'swapgate: the output was lost: ENOSPC: no space left on device, write\n'])
    }
    expect((await inShell('> /dev/full', 'ledger', 'export')).exitCode).toBe(0)
  },
)

it('a listing whose reader has enough is no failure', async () => {
  for (let at = 0; at < 3; at++) await place.facts('keys', 'create', '--name', `account-${at}`)
  const { exitCode, err } = await inShell('| true', 'audit', '--json')
  expect([exitCode, err]).toEqual([0, ''])
})

it('an export fails if its output is not read to its end', async () => {
  const { ledger, close } = await place.stores()
  const requested = { amountIn: '1' as Amount, withdrawalAddress: 'x'.repeat(500), rateType: 'float' } as const
  for (let at = 0; at < 500; at++) {
    const facts: TransactionRecord = {
      transaction: { ...requested, id: `tx-${at}`, createdAt: '2026-11-20T09:59:00Z' },
      derived: [],
      reportedAt: 0,
    }
    await ledger.upsert('acme', 'alpha', facts)
  }
  await close()
  const child = spawn(process.execPath, ['src/cli/swapgate.js', 'ledger', 'export', '--config', place.file])
  await once(child.stdout, 'readable')
  child.stdout.destroy()
  const ending = once(child, 'close')
  const stderrText = Buffer.concat(await child.stderr.toArray()).toString()
  const [exitCode] = await ending
  expect([exitCode, stderrText]).toEqual([1, 'swapgate: the command failed: write EPIPE\n'])
  expect((await place.swapgate('ledger', 'export')).out).toHaveLength(500)
})
