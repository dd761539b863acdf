/** docs/ledger.md, upgrades: a ledger without the columns for scopes, networks and limits has keys and accounts as before, and says why not more. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { undoSteps } from '../ledger/raw.ts'
import { sendRequest } from '../support/client.ts'
import { runCommand } from '../support/command.ts'
import { startFormA } from '../support/form-a.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'

const token = 'operator-token-of-alice-0123456789'

/** On a ledger without the columns, which no start adds. */
async function startUnmigrated() {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-old-schema-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const alpha = await startFormA()
  onTestFinished(() => alpha.close())
  const url = `sqlite:${join(directory, 'ledger.db')}`
  const settings = {
    directory,
    mode: 'managed' as const,
    admin: { tokens: { alice: token } },
    providers: { alpha: { form: 'A' as const, url: alpha.url, key: 'own-key' } },
    sections: { ledger: { url, migrate: 'manual' } },
  }
  const first = await InProcessGateway.start({ ...settings, sections: { ledger: { url } } })
  await first[Symbol.asyncDispose]()
  await undoSteps(url)
  const gateway = await InProcessGateway.start(settings)
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  return { gateway }
}

test('keys with a scope and limits of an account are refused, and other keys are issued, until the ledger is migrated', async () => {
  const { gateway } = await startUnmigrated()
  const send = (method: string, path: string, body?: object) =>
    sendRequest(gateway.adminUrl, {
      method,
      path,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const issued = await send('POST', '/api/keys', { name: 'acme' })
  expect(issued.status, issued.text).toBe(201)
  for (const [method, path, body] of [
    ['POST', '/api/keys', { name: 'acme', scope: ['read'] }],
    ['POST', '/api/keys', { name: 'new', networks: ['192.0.2.0/24'] }],
    ['POST', '/api/accounts', { name: 'acme', limits: { read: 5 } }],
    ['PATCH', '/api/accounts/acme', { limits: { read: 5 } }],
    ['DELETE', '/api/accounts/acme/limits', undefined],
  ] as const) {
    const refused = await send(method, path, body)
    expect([refused.status, refused.text], `${method} ${path}`).toEqual([409, expect.stringContaining('swapgate ledger migrate')])
  }
  expect(JSON.parse((await send('GET', '/api/accounts')).text)).toMatchObject([{ name: 'acme', keys: 1 }])
  const { key } = JSON.parse(issued.text) as { readonly key: string }
  const read = await sendRequest(gateway.url, { path: '/a/api/v2/transactions', headers: { authorization: `Bearer ${key}` } })
  expect(read.status, read.text).toBe(200)
})

test('a key with a scope or networks is none that may do everything to a process that started before the ledger was migrated', async () => {
  const { gateway } = await startUnmigrated()
  const whole = (await gateway.command('keys', 'create', '--name', 'acme')) as { readonly key: string }
  const read = (key: string) =>
    sendRequest(gateway.url, { path: '/a/api/v2/transactions', headers: { authorization: `Bearer ${key}` } })
  expect((await read(whole.key)).status).toBe(200)
  await runCommand(['ledger', 'migrate', '--config', gateway.file])
  for (const [option, value, reason] of [
    ['--scope', 'quote', 'key_scope'],
    ['--allow', '203.0.113.0/24', 'key_invalid'],
  ] as const) {
    const issued = await gateway.command('keys', 'create', '--name', 'acme', option, value)
    const { status, headers } = await read((issued as { readonly key: string }).key)
    expect([status, headers['x-swap-reason']], option).toEqual([401, reason])
  }
  expect((await read(whole.key)).status).toBe(200)
})
