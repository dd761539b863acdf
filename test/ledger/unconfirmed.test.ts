/** docs/contract-operators.md §10.4: a commit that PostgreSQL does not confirm, since its synchronous standby is not there, whatever else is set. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { type LedgerOptions, openLedger } from '../../src/ledger/index.ts'
import { hasPostgresPrograms, type OwnPostgres, startOwnPostgres, until, untilCommitsWait } from '../support/postgres-server.ts'
import { query, type RawRow } from './raw.ts'
import { intent } from './samples.ts'

const ofLedger = "FROM pg_stat_activity WHERE application_name = 'swapgate'"
const waiting = `${ofLedger} AND wait_event = 'SyncRep'`
/** The queue keeps five of them for reads and results. */
const maxConnections = 8

/** As a create does, whose request is over a moment later. */
function beginAwaited(ledger: Ledger, made = intent()): Promise<boolean> {
  const end = performance.now() + 700
  return ledger.begin(made, () => performance.now() < end)
}

describe.runIf(hasPostgresPrograms)('while PostgreSQL confirms nothing', () => {
  let server: OwnPostgres
  let url: string
  beforeAll(async () => {
    server = await startOwnPostgres()
    url = server.url
    await openLedger(url).then(({ close }) => close())
  })
  afterAll(() => server.close())

  const ask = (statement: string): Promise<readonly RawRow[]> => query(url, statement)
  const isWaiting = async (): Promise<boolean> => (await ask(`SELECT pid ${waiting}`)).length > 0
  const isVisible = async (id: string): Promise<boolean> =>
    (await ask(`SELECT 1 FROM transactions WHERE intent = '${id}'`)).length === 1

  async function confirmNothing(): Promise<void> {
    await query(url, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", 'SELECT pg_reload_conf()')
    await untilCommitsWait(url)
  }
  async function confirm(): Promise<void> {
    await query(url, 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()')
  }
  async function open(options: LedgerOptions = {}) {
    const opened = await openLedger(url, { timeoutMs: 300, maxConnections, ...options })
    onTestFinished(opened.close)
    onTestFinished(confirm)
    return opened
  }

  test.each(['ROLE postgres', 'DATABASE postgres'])(
    'a commit whose wait someone cancels does not count, also if warnings are off (ALTER %s)',
    async (whose) => {
      await query(url, `ALTER ${whose} SET client_min_messages = error`)
      onTestFinished(async () => void (await query(url, `ALTER ${whose} RESET client_min_messages`)))
      const { ledger } = await open({ timeoutMs: 5_000 })
      await confirmNothing()
      const made = intent()
      let isOver = false
      const beginning = ledger.begin(made).finally(() => {
        isOver = true
      })
      await until(isWaiting)
      await ask(`SELECT pg_cancel_backend(pid) ${waiting}`)
      await until(() => isVisible(made.id))
      await Promise.race([beginning, until(isWaiting)])
      expect(isOver, 'it is visible, and nothing may be sent for it').toBe(false)
      await confirm()
      expect(await beginning).toBe(true)
    },
  )

  test('sessions are bounded where the server does not say what they do', async () => {
    await query(url, 'ALTER SYSTEM SET track_activities = off', 'SELECT pg_reload_conf()')
    onTestFinished(async () => {
      await query(url, 'ALTER SYSTEM RESET track_activities', 'SELECT pg_reload_conf()')
    })
    const { ledger, connections } = await open()
    await confirmNothing()
    expect(await ask(`SELECT DISTINCT state ${ofLedger}`)).toEqual([{ state: 'disabled' }])
    for (let round = 0; round < 8; round++) await expect(beginAwaited(ledger)).rejects.toThrow()
    const [{ sessions } = {}] = await ask(`SELECT count(*)::int AS sessions ${ofLedger}`)
    expect(sessions, 'one asks about the others').toBeLessThanOrEqual(maxConnections + 1)
    await confirm()
    await expect.poll(() => beginAwaited(ledger).catch(() => false)).toBe(true)
    await expect.poll(() => connections?.().used).toBe(0)
  })
  test('a close with a session that waits ends at once, and leaves its commit to the server', async () => {
    const { ledger, close, connections } = await open()
    await confirmNothing()
    const made = intent()
    await expect(beginAwaited(ledger, made)).rejects.toThrow()
    expect(connections?.().used).toBeGreaterThan(0)
    const began = performance.now()
    await close()
    expect(performance.now() - began).toBeLessThan(1_000)
    expect([await isWaiting(), await isVisible(made.id)]).toEqual([true, false])
    await confirm()
    await until(() => isVisible(made.id))
  })

  test('a close ends while a read is not answered', async () => {
    const { ledger, close, connections } = await open()
    server.freeze()
    onTestFinished(server.thaw)
    const reading = ledger.find('owner', 'alpha', 'x')
    await expect.poll(() => connections?.().used).toBe(1)
    const closing = close()
    await expect(reading).rejects.toThrow('the server has not answered')
    await closing
  })
})
