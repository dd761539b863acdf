/** docs/contract-operators.md §13: `swapgate check --live` asks the ledger whether it takes creates, with the rights of the gateway. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { query } from '../ledger/raw.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { Place } from './place.ts'

const providers = [{ url: 'http://127.0.0.1:1/a' }, { url: 'http://127.0.0.1:1/b' }]

function placeOf(ledgerUrl?: string): Place {
  const place = new Place({ providers, ...(ledgerUrl && { ledgerUrl }) })
  onTestFinished(() => place[Symbol.dispose]())
  return place
}

it('says so, and makes no ledger that is not there', async () => {
  const place = placeOf()
  const before = await place.swapgate('check', '--live')
  expect([before.exitCode, before.err.join()]).toEqual([
    1,
    expect.stringContaining('it does not exist; run swapgate ledger migrate'),
  ])
  await (await place.stores()).close()
  const { exitCode, out } = await place.swapgate('check', '--live')
  expect([exitCode, out.at(-1)]).toEqual([0, 'the ledger takes creates'])
  expect((await place.swapgate('check', '--live', '--diff')).exitCode).toBe(2)
})

describe('of PostgreSQL', () => {
  let server: Postgres
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  it('names what the user may not do, and leaves nothing', async () => {
    const owner = await server.createLedger()
    const user = `user_${new URL(owner).pathname.slice(1)}`
    await query(owner, `CREATE ROLE ${user} LOGIN PASSWORD 'secret'`, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${user}`)
    onTestFinished(async () => void (await query(owner, `DROP OWNED BY ${user}`, `DROP ROLE ${user}`)))
    const url = Object.assign(new URL(owner), { username: user, password: 'secret' }).href
    const place = placeOf(url)
    const refused = await place.swapgate('check', '--live', '--json')
    expect(refused.exitCode).toBe(1)
    expect(JSON.parse(refused.out.join())).toMatchObject({
      ok: false,
      faults: [{ path: 'ledger.url', message: expect.stringContaining('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES') }],
    })
    await query(owner, 'CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION $t$no$t$; END $$')
    await query(owner, 'CREATE TRIGGER refused BEFORE UPDATE ON claims FOR EACH ROW EXECUTE FUNCTION refuse()')
    await query(owner, `GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${user}`)
    expect((await place.swapgate('check', '--live')).err.join()).toContain('a trigger that is not of swapgate')
    await query(owner, 'DROP TRIGGER refused ON claims')
    const allowed = await place.swapgate('check', '--live')
    expect([allowed.exitCode, allowed.out.at(-1)]).toEqual([0, 'the ledger takes creates'])
    const rows = ['transactions', 'claims', 'replica_figures'].map((table) => `SELECT 1 FROM ${table}`).join(' UNION ALL ')
    expect(await query(owner, rows)).toEqual([])
  })
})
