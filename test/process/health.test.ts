// Runs alone: it measures the time of responses.
/** `/livez` and `/readyz` during faults (docs/contract-operators.md §13). */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readJournal } from '../checker/provider/journal.ts'
import { query } from '../ledger/raw.ts'
import { lock } from '../support/broken-ledger.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectErrorBody, expectRefusal } from '../support/expectations.ts'
import { freePort } from '../support/free-port.ts'
import { startPostgres } from '../support/postgres.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { RedisServer } from '../support/redis.ts'
import { Gateways, type StartedGateway } from './gateways.ts'

const timeout = 30_000
const quote = '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=1'

/** `X-Swap-Reason` of `/readyz`. */
const reasons: Readonly<Record<string, string | undefined>> = { ready: undefined, overloaded: 'overloaded', stopping: 'stopping' }

/** The responses of `/livez` and `/readyz`. */
async function health({ adminUrl }: StartedGateway): Promise<unknown> {
  const [live, ready] = [await sendRequest(adminUrl, { path: '/livez' }), await sendRequest(adminUrl, { path: '/readyz' })]
  const { status, ...body } = ready.json as { status: string }
  if (ready.status === 503) {
    expectErrorBody(body, 'A', 503)
    expect([ready.headers['content-type'], ready.headers['retry-after']]).toEqual(['application/json; charset=utf-8', '1'])
  } else expect(body).toEqual({})
  expect([live.headers['x-content-type-options'], ready.headers['x-swap-reason']]).toEqual(['nosniff', reasons[status]])
  return [live.status, ready.status, status]
}

describe('health', { timeout }, () => {
  it('D5: a gateway is ready only after its ledger has answered on each connection that a create uses', async () => {
    await using open = new AsyncDisposableStack()
    const postgres = await startPostgres()
    open.defer(postgres.close)
    const proxy = await startPostgresProxy(await postgres.createLedger())
    open.defer(async () => proxy.close())
    const port = await freePort(20_000, 12_000)
    const gateways = open.use(await Gateways.prepare({ ledger: { url: proxy.url }, admin: { port } }))
    proxy.silenceBeyond(2)
    const starting = gateways.start()
    await expect.poll(() => gateways.output(), { timeout: 20_000 }).toContain('"event":"store_trouble"')
    const { json } = await sendRequest(`http://127.0.0.1:${port}`, { path: '/readyz' })
    expect(json).toMatchObject({ status: 'starting' })
    proxy.silenceBeyond(Number.POSITIVE_INFINITY)
    const gateway = await starting
    expect(await health(gateway)).toEqual([200, 200, 'ready'])
    const acme = await gateways.customer('acme', 'A')
    expect((await acme.create(gateway.url, gateways.order()))?.status).toBe(201)
  })

  it('D5: without its ledger a gateway is live and ready: quotes go on, creates are 503', async () => {
    await using gateways = await Gateways.prepare()
    const gateway = await gateways.start()
    const acme = await gateways.customer('acme', 'A')
    const heal = lock(gateways.directory)
    const creating = acme.create(gateway.url, gateways.order())
    expect(await health(gateway)).toEqual([200, 200, 'ready'])
    expect((await sendRequest(gateway.url, { path: quote })).status).toBe(200)
    expectRefusal((await creating) as ReceivedResponse, 'A', 503, 'ledger_unavailable')
    expect(await health(gateway)).toEqual([200, 200, 'ready'])
    heal()
    expect((await acme.create(gateway.url, gateways.order()))?.status).toBe(201)
  })

  it('a ledger whose user may not write: creates are 503 before anything is sent, and `/readyz` says why; at a start it is not ready', async () => {
    await using open = new AsyncDisposableStack()
    const postgres = await startPostgres()
    open.defer(postgres.close)
    const url = await postgres.createLedger()
    const role = `user_${new URL(url).pathname.slice(1)}`
    const all = 'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public'
    await query(url, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`, `GRANT ${all} TO ${role}`)
    open.defer(async () => void (await query(url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`)))
    const user = Object.assign(new URL(url), { username: role, password: 'secret' }).href
    const port = await freePort(20_000, 12_000)
    const gateways = open.use(await Gateways.prepare({ ledger: { url: user, migrate: 'manual' }, admin: { port } }))
    const readiness = () => sendRequest(`http://127.0.0.1:${port}`, { path: '/readyz' })
    const creates = () =>
      readJournal(gateways.provider.settings.journal).filter((entry) => entry.what === 'received' && entry.operation === 'create')
        .length
    const gateway = await gateways.start()
    const acme = await gateways.customer('acme', 'A')
    expect((await acme.create(gateway.url, gateways.order()))?.status).toBe(201)
    await query(url, `REVOKE UPDATE ON transactions FROM ${role}`)
    expect((await acme.create(gateway.url, gateways.order()))?.status).toBe(504)
    await expect
      .poll(async () => (await readiness()).json, { timeout: 20_000 })
      .toEqual({
        status: 'ready',
        creates: expect.stringMatching(/^503: the user lacks a privilege; .* GRANT SELECT, INSERT, UPDATE, DELETE/),
      })
    const sent = creates()
    const refused = await acme.create(gateway.url, gateways.order())
    expectRefusal(refused as ReceivedResponse, 'A', 503, 'ledger_unavailable')
    expect(creates()).toBe(sent)
    await gateway[Symbol.asyncDispose]()
    const again = await gateways.start()
    expect((await readiness()).status).toBe(503)
    expect((await readiness()).json).toMatchObject({ status: 'starting', creates: expect.stringContaining('lacks a privilege') })
    await query(url, `GRANT UPDATE ON transactions TO ${role}`)
    await expect.poll(async () => (await readiness()).json, { timeout: 20_000 }).toEqual({ status: 'ready' })
    expect((await acme.create(again.url, gateways.order()))?.status).toBe(201)
  })

  it('D5: without its Redis a gateway is live and ready, and a metric shows it', async () => {
    await using redis = await RedisServer.start()
    await using gateways = await Gateways.prepare({ redis: { url: redis.url } })
    const gateway = await gateways.start()
    const counted = async (): Promise<string> => (await fetch(`${gateway.adminUrl}/metrics`)).text()
    expect(await counted()).toMatch(/^swapgate_limits_local 0$/m)
    await redis.kill()
    expect((await sendRequest(gateway.url, { path: quote })).status).toBe(200)
    await expect.poll(counted).toMatch(/^swapgate_limits_local 1$/m)
    expect(await health(gateway)).toEqual([200, 200, 'ready'])
  })

  it('D5: while it is overloaded a gateway is live and not ready; creates go on, and it is ready again within five seconds', async () => {
    await using gateways = await Gateways.prepare()
    const blocking = join(gateways.directory, 'blocking.mjs')
    writeFileSync(blocking, blockTwice)
    const gateway = await gateways.start({ NODE_OPTIONS: `--import=${blocking}` })
    const acme = await gateways.customer('acme', 'A')
    expect(await health(gateway)).toEqual([200, 200, 'ready'])
    gateway.process.child.kill('SIGUSR2')
    await expect.poll(() => health(gateway), { interval: 20 }).toEqual([200, 503, 'overloaded'])
    const began = performance.now()
    const [quoted, created] = await Promise.all([
      sendRequest(gateway.url, { path: quote }),
      acme.create(gateway.url, gateways.order()),
    ])
    expect(expectRefusal(quoted, 'A', 503, 'overloaded')).toMatch(/overloaded/)
    expect(quoted.headers['retry-after']).toBe('2')
    expect(created?.status).toBe(201)
    await expect.poll(() => health(gateway), { interval: 50 }).toEqual([200, 200, 'ready'])
    expect(performance.now() - began).toBeLessThan(5_000)
    expect((await sendRequest(gateway.url, { path: quote })).status).toBe(200)
  })

  it('D5: while it ends a gateway is live and not ready', async () => {
    await using gateways = await Gateways.prepare({ server: { port: 0, shutdownDelay: 30 } })
    const gateway = await gateways.start()
    gateway.process.child.kill('SIGTERM')
    await expect.poll(() => health(gateway), { interval: 10 }).toEqual([200, 503, 'stopping'])
  })
})

/** Holds up everything for 600 ms, and again as soon as others had their turn. */
const blockTwice = `
const block = () => { for (const end = performance.now() + 600; performance.now() < end; ); }
process.on('SIGUSR2', () => { block(); setTimeout(block, 60) })
`
