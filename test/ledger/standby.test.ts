// Takes long: it starts two PostgreSQL servers of its own.
/** A PostgreSQL server that confirms a commit only with its standby (docs/contract-operators.md §10.4): what is not confirmed does not count. */
import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { canFailOver, type PostgresServers, startPostgresServers } from '../support/postgres-failover.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { execute, until } from '../support/postgres-server.ts'
import { facts, intent } from './samples.ts'

const maxConnections = 13
/** One asks the server about the others. */
const maxSessions = maxConnections + 1

let servers: PostgresServers

const ofRole = "FROM pg_stat_activity WHERE application_name = 'swapgate'"
const sessions = async (): Promise<number> => (await execute(servers.primary, `SELECT count(*)::int AS count ${ofRole}`))[0].count
const waiting = `${ofRole} AND wait_event = 'SyncRep'`
const isWaiting = async (): Promise<boolean> => (await execute(servers.primary, `SELECT pid ${waiting}`)).length > 0

async function open(options: Parameters<typeof openLedger>[1] = {}) {
  const opened = await openLedger(servers.primary, { timeoutMs: 500, maxConnections, ...options })
  onTestFinished(opened.close)
  return opened
}

type Outcome = 'begun' | 'refused'

const outcomeOf = (begun: Promise<boolean>): Promise<Outcome> =>
  begun.then(
    () => 'begun' as const,
    () => 'refused' as const,
  )

/** As a create does: nobody waits for it after a second. */
function beginAwaited(ledger: Ledger, made = intent()): Promise<Outcome> {
  const until = performance.now() + 1_000
  return outcomeOf(ledger.begin(made, () => performance.now() < until))
}

describe.runIf(canFailOver)('while the synchronous standby is away', { timeout: 60_000 }, () => {
  beforeEach(async () => {
    servers = await startPostgresServers()
    onTestFinished(servers.close)
    await openLedger(servers.primary).then(({ close }) => close())
    await servers.synchronise()
  })

  test('no session is opened beyond the bound, no create begins, reads go on, and afterwards all is well', async () => {
    const { ledger, connections } = await open()
    const known = intent()
    await ledger.begin(known)
    await ledger.complete(known.id, facts('x'))
    const running = intent({ isQuoting: true })
    await ledger.begin(running)
    servers.freezeStandby()
    let most = 0
    const outcomes: Promise<Outcome>[] = []
    for (let n = 0; n < 80; n++) {
      outcomes.push(beginAwaited(ledger))
      if (n % 4 === 0) outcomes.push(outcomeOf(ledger.markQuoted(running.id, undefined)))
      if (n % 8 === 0) most = Math.max(most, await sessions())
      await delay(50)
    }
    expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined()
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['refused']))
    expect(Math.max(most, await sessions())).toBeLessThanOrEqual(maxSessions)
    const refusing = performance.now()
    expect(await beginAwaited(ledger)).toBe('refused')
    expect(performance.now() - refusing, 'it is known that no connection becomes free').toBeLessThan(1_500)
    servers.thawStandby()
    await expect.poll(() => beginAwaited(ledger), { timeout: 10_000 }).toBe('begun')
    await expect.poll(() => connections?.().used, { timeout: 10_000 }).toBe(0)
  })

  test.each(['cancel', 'terminate'])(
    'a commit whose wait someone %ss is not one before the standby has a later one',
    async (how) => {
      const { ledger } = await open({ timeoutMs: 5_000 })
      servers.freezeStandby()
      const made = intent()
      let outcome: Outcome | undefined
      const beginning = outcomeOf(ledger.begin(made)).then((end) => {
        outcome = end
      })
      await until(isWaiting)
      await execute(servers.primary, `SELECT pg_${how}_backend(pid) ${waiting}`)
      const isVisible = `SELECT 1 FROM transactions WHERE intent = '${made.id}'`
      await until(async () => (await execute(servers.primary, isVisible)).length === 1)
      await until(isWaiting)
      expect(outcome, 'it is visible, and nothing may be sent for it').toBeUndefined()
      servers.thawStandby()
      await beginning
      expect(outcome).toBe('begun')
    },
  )

  test('a result whose wait someone cancels is stored again, and then counts', async () => {
    const { ledger } = await open({ timeoutMs: 5_000 })
    const made = intent()
    await ledger.begin(made)
    servers.freezeStandby()
    let outcome: Outcome | undefined
    const completing = outcomeOf(ledger.complete(made.id, facts('y'))).then((end) => {
      outcome = end
    })
    await until(isWaiting)
    await execute(servers.primary, `SELECT pg_cancel_backend(pid) ${waiting}`)
    await until(isWaiting)
    expect(outcome).toBeUndefined()
    servers.thawStandby()
    await completing
    expect(outcome).toBe('begun')
  })

  test('a start says so within a second, and goes on', async () => {
    servers.freezeStandby()
    const lines: string[] = []
    const { ledger, warmUp } = await open({ onTrouble: ({ cause, message }) => void lines.push(`${cause}: ${message}`) })
    await warmUp()
    expect([...new Set(lines)]).toEqual([
      expect.stringMatching(/^standby: .*start the standby, or take it out of synchronous_standby_names/),
    ])
    expect(await ledger.find('owner', 'alpha', 'x')).toBeUndefined()
    servers.thawStandby()
  })

  test('a start that makes the ledger says after some seconds what it waits for', async () => {
    await execute(servers.primary, 'CREATE DATABASE made_then')
    servers.freezeStandby()
    const lines: string[] = []
    const url = Object.assign(new URL(servers.primary), { pathname: '/made_then' }).href
    const opening = openLedger(url, { onTrouble: ({ cause }) => void lines.push(cause) })
    await expect.poll(() => lines, { timeout: 10_000 }).toEqual(['standby'])
    servers.thawStandby()
    await (await opening).close()
  })

  test.each(['gone', 'silent'] as const)(
    'the old server is %s and the standby takes over: its sessions keep no place',
    async (end) => {
      const proxy = await startPostgresProxy(servers.primary)
      onTestFinished(proxy.close)
      const { ledger, close } = await openLedger(proxy.url, { timeoutMs: 500, maxConnections })
      onTestFinished(close)
      const before = intent()
      expect(await ledger.begin(before)).toBe(true)
      servers.freezeStandby()
      const refused = await Promise.all(Array.from({ length: 30 }, async (_, n) => delay(50 * n).then(() => beginAwaited(ledger))))
      expect(new Set(refused)).toEqual(new Set(['refused']))
      await servers.loseAndPromote(end)
      proxy.lead(servers.standby)
      await expect.poll(() => beginAwaited(ledger), { timeout: 10_000 }).toBe('begun')
      expect(await ledger.complete(before.id, facts('z'))).toBe(true)
      await expect.poll(() => execute(servers.standby, `SELECT pid ${waiting}`)).toEqual([])
    },
  )
})
