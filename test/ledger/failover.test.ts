/** A PostgreSQL server that is replaced by its standby, and keeps its sessions, read-only (docs/contract.md §10). */
import { expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { canFailOver, startPostgresServers } from '../support/postgres-failover.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { facts, intent } from './samples.ts'

test.runIf(canFailOver)(
  'L163: after a failover no write fails because of sessions that the old server keeps, read-only',
  async () => {
    const servers = await startPostgresServers()
    onTestFinished(servers.close)
    const proxy = await startPostgresProxy(servers.primary)
    onTestFinished(proxy.close)
    const { ledger, close } = await openLedger(proxy.url)
    onTestFinished(close)
    const running = Array.from({ length: 20 }, () => intent())
    expect(await Promise.all(running.map((create) => ledger.begin(create)))).toEqual(running.map(() => true))
    await servers.failOver()
    proxy.lead(servers.standby)
    const created = Array.from({ length: 20 }, () => intent())
    const [begun, completed, doubted] = await Promise.all([
      Promise.all(created.map((create) => ledger.begin(create))),
      Promise.all(running.slice(0, 10).map(({ id }) => ledger.complete(id, facts(`of-${id}`)))),
      Promise.all(running.slice(10).map(({ id }) => ledger.markUnknown(id, 1))),
    ])
    expect([begun, completed]).toEqual([created.map(() => true), completed.map(() => true)])
    expect(doubted).toHaveLength(10)
    const [first] = running
    expect(await ledger.find(first?.owner ?? '', first?.provider ?? '', `of-${first?.id}`)).toBeDefined()
  },
)

test.runIf(canFailOver)('a server that stays read-only refuses writes and answers reads', async () => {
  const servers = await startPostgresServers()
  onTestFinished(servers.close)
  const { ledger, close } = await openLedger(servers.primary)
  onTestFinished(close)
  const create = intent()
  await ledger.begin(create)
  await ledger.complete(create.id, facts(`of-${create.id}`))
  await servers.failOver()
  const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => ledger.begin(intent())))
  expect(attempts.filter(({ status }) => status === 'fulfilled')).toEqual([])
  expect(await ledger.find(create.owner, create.provider, `of-${create.id}`)).toBeDefined()
})
