/** docs/contract-operators.md §8, §13, §15: a secret of the configuration is in no log line, no difference and no response to an operator. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ConfigDirectory } from '../process/swapgate.ts'
import { sendRequest } from '../support/client.ts'
import { runCommand } from '../support/command.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { secretSettings } from '../support/secret-settings.ts'

const settings = (word: string): string => {
  const { admin, ...sections } = secretSettings(word)
  return JSON.stringify({
    ...sections,
    server: { port: 0, shutdownDelay: 0 },
    admin: { port: 0, ...admin },
    ledger: { url: `${ledgerUrl}?application_name=${word}` },
    log: { format: 'json' },
  })
}

let postgres: Postgres
let ledgerUrl: string
let directory: ConfigDirectory
let file: string
let gateway: InProcessGateway
beforeAll(async () => {
  postgres = await startPostgres()
  ledgerUrl = await postgres.createLedger()
  directory = new ConfigDirectory()
  file = directory.write(settings('canary1'))
  gateway = await InProcessGateway.start(file)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  directory[Symbol.dispose]()
  await postgres.close()
})

/** Each word has it. */
const secrets = (): RegExp => new RegExp(`canary|${new URL(ledgerUrl).password}`, 'i')
const read = (path: string) =>
  sendRequest(gateway.adminUrl, { path, headers: { authorization: `Bearer ${'canary1'.padEnd(44, '0')}` } })

test('the configuration in force is read without one, and told from another by digests', async () => {
  const { status, text } = await read('/api/configuration')
  expect([status, text]).toEqual([200, expect.not.stringMatching(secrets())])
  const next = join(file, '..', 'next.yaml')
  writeFileSync(next, settings('canary2').replace('"admin":{"port":0', `"admin":{"port":${new URL(gateway.adminUrl).port}`))
  for (const form of [[], ['--json']]) {
    const { out, err } = await runCommand(['check', '--config', next, '--diff', file, ...form])
    expect(out.join('\n')).toContain('providers.alpha.listKey')
    expect([...out, ...err].join('\n')).not.toMatch(secrets())
  }
})

test('calls that fail, and a reload with others, log none', async () => {
  await sendRequest(gateway.url, { path: '/a/api/v2/rate?coinFrom=ETH&coinTo=BTC&amount=1' })
  await sendRequest(gateway.url, { method: 'POST', path: `/hooks/alpha/${'canary1'.padEnd(44, '0')}-hook`, body: '{}' })
  await read('/api/health')
  writeFileSync(file, settings('canary2'))
  gateway.reload()
  await vi.waitFor(() => expect(gateway.output).toContain('the configuration was read again'), eventTimeoutMs)
  expect(gateway.output).toMatch(/redis/i)
  expect(gateway.output).not.toMatch(secrets())
})

test('faults of a configuration that is refused have none', async () => {
  writeFileSync(file, settings('canary 3'))
  gateway.reload()
  await vi.waitFor(
    () => expect(gateway.output).toContain('reload rejected: still running the previous configuration'),
    eventTimeoutMs,
  )
  const { exitCode, out, err } = await runCommand(['check', '--config', file])
  expect(exitCode).toBe(1)
  expect([gateway.output, ...out, ...err].join('\n')).not.toMatch(secrets())
})
