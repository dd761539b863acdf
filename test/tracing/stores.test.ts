/** Calls to PostgreSQL are client spans of the request that waits for them, by OpenTelemetry's conventions for databases. */
import { expect, test } from 'vitest'
import { orderIn } from '../support/managed.ts'
import { startPostgres } from '../support/postgres.ts'
import { Caller } from './collector.ts'
import { startRig } from './rig.ts'

test('a create has a span for each call to PostgreSQL, without statement, value or address', { timeout: 60_000 }, async () => {
  await using open = new AsyncDisposableStack()
  const server = await startPostgres()
  open.defer(server.close)
  const url = await server.createLedger()
  const rig = open.use(await startRig({ sections: { ledger: { url } } }))
  await rig.warm()
  const callers = Array.from({ length: 4 }, () => new Caller())
  const made = await Promise.all(
    callers.map(({ headers }) => rig.client('A').post('/transactions', orderIn('A'), { key: rig.key, headers })),
  )
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  for (const caller of callers) {
    const trace = await rig.collector.traceFrom(caller)
    const calls = trace.clients.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql')
    const names = calls.map(({ name }) => name)
    expect(names.filter((name) => /^(?:INSERT|UPDATE) /.test(name)).length, String(names)).toBeGreaterThanOrEqual(2)
    for (const { name, attributes, parentSpanId } of calls) {
      const { hostname, port } = new URL(url)
      expect(attributes).toMatchObject({ 'server.address': hostname, 'server.port': Number(port) })
      expect(name.startsWith(String(attributes['db.operation.name']))).toBe(true)
      expect(parentSpanId).toBe(trace.root.spanId)
    }
    expect(JSON.stringify(calls, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('TWithdraw')
  }
})
