/** docs/contract-operators.md §13: `swapgate check --diff` says what a reload would change. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { TransactionRecord } from '../../src/core/ports/ledger.ts'
import type { Amount } from '../../src/domain/amount.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { Place } from './place.ts'

const token = 'operator-token-of-alice-0123456789'

let place: Place
let inForce: string
beforeEach(() => {
  place = new Place({ providers: [{ url: 'http://127.0.0.1:1/a' }, { url: 'http://127.0.0.1:1/b' }] })
  inForce = join(place.directory, 'in-force.yaml')
  copyFileSync(place.file, inForce)
})
afterEach(() => place[Symbol.dispose]())

const changed = `
providers: { beta: { form: B, url: "http://127.0.0.1:1/b", key: another-key, timeout: 20 } }
routing: { providers: [beta] }
auth: { mode: managed }
server: { drain: 12 }
`

it('prints each key before and after, when it takes effect, and what it means for open swaps', async () => {
  const { ledger, close } = await place.stores()
  const transaction = { id: 'tx-1', amountIn: '1' as Amount, rateType: 'float', createdAt: '2026-11-20T09:59:00Z' } as const
  await ledger.upsert('acme', 'alpha', { transaction, derived: [], reportedAt: 0 } as unknown as TransactionRecord)
  await close()
  place.write(changed)
  const { exitCode, out, err } = await place.swapgate('check', '--diff', inForce)
  expect([exitCode, err]).toEqual([0, []])
  expect(out.slice(0, 7)).toEqual([
    `${place.file} changes 5 keys of ${inForce}:`,
    '  server.drain: 10 -> 12 (after a restart)',
    '  routing.providers: ["alpha"] -> ["beta"] (at once)',
    '  providers.alpha: removed (at once)',
    '  providers.beta.key: changed (at once)',
    '  providers.beta.timeout: 10 -> 20 (at once)',
    'warning: providers has no tag alpha, which has 1 open transaction or create: they stay as last seen until a provider has that tag again',
  ])
  expect(out.join()).not.toMatch(/another-key|provider-key/)
})

it('names each key as the file has it', async () => {
  place.write(`${changed}exolix: { keyInQuery: true }\n`)
  const { out, err } = await place.swapgate('check', '--diff', inForce)
  expect(err).toEqual([])
  expect(out).toContain('  exolix.keyInQuery: false -> true (at once)')
  expect(out.join()).toContain('warning: exolix.keyInQuery: keys of clients may be in URLs')
})

it('prints one JSON document, without a secret', async () => {
  place.write(changed)
  const report = await place.facts<Record<string, unknown>>('check', '--diff', inForce)
  expect(report).toMatchObject({ ok: true, file: place.file, inForce, restart: ['server'], warnings: [] })
  expect(report.changes).toContainEqual({
    key: 'providers.beta.key',
    change: 'changed',
    before: null,
    after: null,
    isSecret: true,
    takesEffect: 'reload',
  })
})

it('says that nothing changes', async () => {
  expect((await place.swapgate('check', '--diff', inForce)).out).toEqual([`${place.file} changes nothing of ${inForce}`])
})

it('ends with 1 and the faults of the file that has them', async () => {
  writeFileSync(inForce, 'server: []')
  const { exitCode, err } = await place.swapgate('check', '--diff', inForce)
  expect([exitCode, err[0]]).toEqual([1, `swapgate: ${inForce} has 3 faults:`])
})

it('compares with the running gateway, and with what only its start has read', async () => {
  const sections = (port: string, more: string, key = 'own-key', alice = token) => `
providers: { alpha: { form: A, url: "http://127.0.0.1:1/a", key: ${key} } }
routing: { providers: [alpha] }
auth: { mode: managed }
server: { port: 0${more} }
admin: { port: ${port}, tokens: { alice: ${alice} } }
`
  place.write(sections('0', ''))
  // A file of its own, which it does not read again.
  copyFileSync(place.file, inForce)
  await using gateway = await InProcessGateway.start(inForce)
  const port = new URL(gateway.adminUrl).port
  place.write(sections(port, ', drain: 12', 'canary-key', `{ token: ${token}, roles: [read] }`))
  const { exitCode, out } = await place.swapgate('check', '--diff')
  expect(exitCode).toBe(0)
  expect(out.filter((line) => !line.startsWith('warning: '))).toEqual([
    `${place.file} changes 4 keys of the running gateway:`,
    '  server.drain: 10 -> 12 (after a restart)',
    `  admin.port: 0 -> ${port} (after a restart)`,
    '  admin.tokens.alice: changed (at once)',
    '  providers.alpha.key: changed (at once)',
  ])
  const response = await fetch(`${gateway.adminUrl}/api/configuration`, { headers: { authorization: `Bearer ${token}` } })
  expect(await response.text()).not.toMatch(/own-key|operator-token/)
})

it.each([
  ['no token', '', /there is none: name the file in force$/],
  [
    'no gateway',
    `admin: { port: 59999, tokens: { alice: ${token} } }\n`,
    /^swapgate: no gateway answers at http:\/\/127\.0\.0\.1:59999\/api\/configuration/,
  ],
])('says why the running gateway cannot be asked: %s', async (_, admin, message) => {
  place.write(`${changed}${admin}`)
  const { exitCode, err } = await place.swapgate('check', '--diff')
  expect([exitCode, err]).toEqual([1, [expect.stringMatching(message)]])
})
