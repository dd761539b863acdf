// Takes longest: the standby of the ledger is away for seconds, or for as many as SWAPGATE_STANDBY_SECONDS says.
/** docs/contract-operators.md §10.4: creates go on coming while PostgreSQL waits for its synchronous standby, and after that has taken over. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { readJournal } from '../checker/provider/journal.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { canFailOver, startPostgresServers } from '../support/postgres-failover.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { execute } from '../support/postgres-server.ts'
import { rounds } from '../support/rounds.ts'
import { Gateways } from './gateways.ts'

const awayMs = Number(process.env.SWAPGATE_STANDBY_SECONDS ?? rounds(2, 12)) * 1_000
const ends = (['comes back', 'takes over'] as const).slice(0, rounds(1, 2))
const everyMs = 1_000 / 30
const maxConnections = 13
/** docs/contract-operators.md §10.4 has 10 s for it, on a machine that does nothing else. */
const wellMs = rounds(eventTimeoutMs, 10_000)

const ofLedger = "FROM pg_stat_activity WHERE application_name = 'swapgate'"

interface Answer {
  readonly address: string
  readonly response: ReceivedResponse | undefined
}

const outcomeOf = ({ response }: Answer): string => [response?.status, response?.headers['x-swap-reason']].filter(Boolean).join(' ')

describe.runIf(canFailOver)('a synchronous standby that is away', { timeout: 4 * awayMs + 120_000 }, () => {
  test.each(ends)(
    'and %s: sessions stay bounded, a create that is refused was not sent, and none is doubled or lost',
    async (end) => {
      await using open = new AsyncDisposableStack()
      const servers = await startPostgresServers()
      open.defer(servers.close)
      const proxy = await startPostgresProxy(servers.primary)
      open.defer(async () => proxy.close())
      const gateways = open.use(await Gateways.prepare({ ledger: { url: proxy.url, maxConnections } }))
      const gateway = await gateways.startInProcess()
      const acme = await gateways.customer('acme', 'A')
      await servers.synchronise()
      const known = (await acme.create(gateway.url, gateways.order())) as ReceivedResponse
      const { id } = known.json as { readonly id: string }
      const answers: Promise<Answer>[] = []
      let most = 0
      const send = async (number: number): Promise<Answer> => {
        const order = gateways.order()
        const response = await acme.create(gateway.url, order, number % 2 ? { idempotencyKey: `key-${number}` } : {})
        return { address: order.withdrawalAddress, response }
      }
      const create = (): Promise<Answer> => {
        const answer = send(answers.length)
        answers.push(answer)
        return answer
      }
      const createFor = async (ms: number): Promise<void> => {
        const from = performance.now()
        for (let n = 0; n * everyMs < ms; n++) {
          void create()
          if (n % 15 === 0)
            most = Math.max(most, (await execute(servers.primary, `SELECT count(*)::int AS count ${ofLedger}`))[0].count)
          await delay(Math.max(0, from + (n + 1) * everyMs - performance.now()))
        }
      }
      await createFor(500)
      servers.freezeStandby()
      const before = answers.length
      await createFor(awayMs)
      const whileAway = await Promise.all(answers.slice(before))
      await expect.poll(async () => (await acme.get(gateway.url, id))?.status).toBe(200)
      await expect.poll(async () => (await acme.list(gateway.url))?.status).toBe(200)
      if (end === 'comes back') servers.thawStandby()
      else {
        await servers.loseAndPromote('gone')
        proxy.lead(servers.standby)
      }
      const createMany = async () =>
        new Set((await Promise.all(Array.from({ length: 30 }, create))).map(({ response }) => response?.status))
      await expect.poll(createMany, { timeout: wellMs, interval: 200 }).toEqual(new Set([201]))
      const all = await Promise.all(answers)
      const sent = readJournal(gateways.provider.settings.journal).flatMap((entry) =>
        entry.what === 'received' && entry.operation === 'create'
          ? [(JSON.parse(entry.body) as { withdrawalAddress: string }).withdrawalAddress]
          : [],
      )
      expect(most).toBeLessThanOrEqual(maxConnections + 4)
      expect(whileAway.map(outcomeOf)).toContain('503 ledger_unavailable')
      expect(new Set(whileAway.map(({ response }) => response?.status))).toEqual(new Set([503]))
      const refused = all.filter(({ response }) => response?.status === 503)
      expect(refused.filter(({ address }) => sent.includes(address))).toEqual([])
      expect(new Set(sent).size).toBe(sent.length)
      const others = all.filter((answer) => !whileAway.includes(answer))
      expect(['201', '503 ledger_unavailable', '503 overloaded', '504 outcome_unknown']).toEqual(
        expect.arrayContaining([...new Set(others.map(outcomeOf))]),
      )
      await expect.poll(() => gateways.command('ledger', 'unknown'), { timeout: 30_000, interval: 500 }).toEqual([])
      expect(await gateways.violations(gateway, [acme])).toEqual([])
    },
  )
})
