/** docs/contract-operators.md §13: a process is ready once it has the lists of currencies that others have stored. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { startProvider } from '../checker/provider.ts'
import { sendRequest } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { startPostgres } from '../support/postgres.ts'

test('a create at a provider that sends no list now is made by a process that has just become ready', {
  timeout: 90_000,
}, async () => {
  await using open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-lists-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  const alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['own-key'], journal: join(directory, 'alpha') }))
  const postgres = await startPostgres()
  open.defer(postgres.close)
  const url = await postgres.createLedger()
  const gateway = open.use(
    await GatewayProcess.start({
      directory,
      mode: 'managed',
      providers: { alpha: { form: 'A', url: alpha.url, key: 'own-key' } },
      sections: { ledger: { url } },
    }),
  )
  const key = await gateway.createKey('acme')
  const create = async (withdrawalAddress: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ coinFrom: 'XRP', coinTo: 'USDTERC20', amount: 1, rateType: 'float', withdrawalAddress })
    return (await sendRequest(gateway.url, { method: 'POST', path: '/a/api/v2/transactions', headers, body })).status
  }
  expect(await create('0xbefore')).toBe(201)
  const client = new pg.Client(url)
  await client.connect()
  open.defer(() => client.end())
  const count = async (text: string): Promise<number> => Number((await client.query(`select count(*) ${text}`)).rows[0].count)
  await expect.poll(() => count('from currency_lists'), { timeout: eventTimeoutMs }).toBe(1)
  await gateway.stop()

  await alpha.fault({ operation: 'currencies', before: 'hang', times: 1_000 })
  await client.query('begin; lock table currency_lists in access exclusive mode')
  const starting = gateway.start()
  await expect.poll(() => count('from pg_locks where not granted'), { timeout: eventTimeoutMs }).toBeGreaterThan(0)
  expect((await fetch(`${gateway.adminUrl}/readyz`)).status).toBe(503)
  await client.query('commit')
  await starting
  expect(await create('0xafter')).toBe(201)
})
