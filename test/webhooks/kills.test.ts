/** docs/contract.md §18.3: what webhooks are told survives kills and bad receivers: all of it, in order, and nothing else. */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { startProvider } from '../checker/provider.ts'
import { sendRequest } from '../support/client.ts'
import { startPostgres } from '../support/postgres.ts'
import { rounds } from '../support/rounds.ts'
import { Receiver } from './receiver.ts'

const swapCount = Number(process.env.SWAPGATE_WEBHOOK_SWAPS ?? rounds(60, 1_000))
const killCount = Number(process.env.SWAPGATE_WEBHOOK_KILLS ?? rounds(3, 20))
const downMs = Number(process.env.SWAPGATE_WEBHOOK_DOWN_MS ?? rounds(1_000, 3_000))
const clientCount = 12
const statuses = ['wait', 'confirmation', 'exchanging', 'success']
let orders = 0
/** No two are equal: a create whose process was killed is found again. */
const order = () => ({
  ...{ coinFrom: 'XRP', coinTo: 'USDTERC20', rateType: 'float' },
  ...{ amount: 1 + ++orders / 100_000, withdrawalAddress: `0xWithdraw${orders}` },
})

interface Told {
  readonly id: string
  readonly body: string
  readonly status: number | undefined
}

it(
  `${swapCount} swaps, ${killCount} kills: each change arrives, in order for each transaction, signed, and nothing that the ledger does not have`,
  async () => {
    await using open = new AsyncDisposableStack()
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-webhooks-'))
    open.defer(async () => rmSync(directory, { recursive: true }))
    const postgres = await startPostgres()
    open.defer(postgres.close)
    const ledger = await postgres.createLedger()
    const alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['own-key'], journal: join(directory, 'alpha') }))
    const receiver = open.use(await Receiver.start())
    const silent = open.use(await Receiver.start())
    silent.respond = () => {}
    const allow = [receiver, silent].map(({ port }) => `http://127.0.0.1:${port}`)
    const settings = {
      directory,
      mode: 'managed' as const,
      providers: { alpha: { form: 'A' as const, url: alpha.url, key: 'own-key' } },
      sections: {
        ledger: { url: ledger, refreshAfter: 0 },
        webhooks: { key: randomBytes(32).toString('base64'), allow },
        log: { requests: false },
      },
    }
    const gateways = [open.use(await GatewayProcess.start(settings)), open.use(await GatewayProcess.start(settings))] as const
    const key = await gateways[0].createKey('acme')
    const add = async (port: number) =>
      (await gateways[0].command('webhooks', 'add', 'acme', `http://127.0.0.1:${port}/hook`)) as {
        readonly id: string
        readonly secret: string
      }
    const webhook = await add(receiver.port)
    await add(silent.port)
    const database = new pg.Client({ connectionString: ledger })
    await database.connect()
    open.defer(() => database.end())

    // The receiver: of ten requests three fail, one of fifty is reset, one of fifty answered late; and for a while all are. It does not use
    // up the eight attempts of a delivery.
    const told: Told[] = []
    const attempts = new Map<string, number>()
    const verifier = new Webhook(webhook.secret)
    let downUntil = 0
    const isDown = (): boolean => Date.now() < downUntil
    receiver.respond = (received, response) => {
      verifier.verify(received.body, received.headers as Record<string, string>)
      const id = String(received.headers['webhook-id'])
      const attempt = (attempts.get(id) ?? 0) + 1
      attempts.set(id, attempt)
      const number = told.length
      const isBad = attempt <= 4
      const isReset = isDown() || (isBad && number % 50 === 7)
      const status = isReset ? undefined : isBad && [2, 5, 8].includes(number % 10) ? 500 : 200
      told.push({ id, body: received.body, status })
      if (status === undefined) return response.socket?.resetAndDestroy()
      response.statusCode = status
      if (number % 50 === 11) return setTimeout(() => response.end(), 300)
      return response.end()
    }

    interface Swap {
      readonly id: string
      readonly status: string
    }
    let requests = 0
    /** At the one gateway or the other; undefined: it was killed, or did not take it. */
    const request = async (method: string, path: string, body?: object): Promise<Swap | undefined> => {
      const response = await sendRequest(gateways[++requests % 2 === 0 ? 0 : 1].url, {
        method,
        path: `/a/api/v2/transactions${path}`,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
        },
        ...(body && { body: JSON.stringify(body) }),
      }).catch(() => undefined)
      if (response && response.status < 300) return response.json as Swap
      await wait(50)
      return undefined
    }
    const swaps: string[] = []
    let begun = 0
    const client = async (): Promise<void> => {
      while (begun++ < swapCount) {
        let created: Swap | undefined
        // What became of a create whose gateway was killed is found later: then its swap is told too.
        while (!created) created = await request('POST', '', order())
        const { id } = created
        swaps.push(id.replace('alpha~', ''))
        for (const status of statuses.slice(1)) {
          await alpha.change(id.replace('alpha~', ''), { status })
          while ((await request('GET', `/${id}`))?.status !== status);
        }
      }
    }
    let isOver = false
    const killer = async (): Promise<void> => {
      for (let kill = 0; kill < killCount; kill++) {
        const victim = gateways[kill % 2 === 0 ? 0 : 1]
        await wait(100 + 37 * (kill % 10))
        if (kill === Math.floor(killCount / 2)) downUntil = Date.now() + downMs
        await victim.kill()
        await victim.start()
      }
    }
    // As if time went faster: what waits for its next attempt is due. What is claimed is not touched, and no gateway waits for it.
    const hasten = async (): Promise<void> => {
      while (!isOver) {
        await wait(500)
        if (isDown()) continue
        await database.query(
          `UPDATE webhook_queues SET due_at = 1 WHERE (webhook, provider, provider_id) IN (
            SELECT webhook, provider, provider_id FROM webhook_queues
            WHERE due_at > 1 AND claim IS NULL AND webhook = $1 FOR UPDATE SKIP LOCKED)`,
          [webhook.id],
        )
      }
    }
    const hastening = hasten()
    hastening.catch(() => {}) // it is awaited at the end
    open.defer(async () => {
      isOver = true
      await hastening
    })
    await Promise.all([killer(), ...Array.from({ length: clientCount }, client)])
    // A get does not wait for its write for longer than half a second: what it showed a gateway may have taken along when it was killed.
    const unfinished = async (): Promise<readonly string[]> => {
      const { rows } = await database.query<{ provider_id: string }>(
        `SELECT provider_id FROM transaction_events WHERE cast(state AS json) ->> 'status' = 'success'`,
      )
      const finished = new Set(rows.map(({ provider_id }) => provider_id))
      return swaps.filter((swap) => !finished.has(swap))
    }
    for (let left = await unfinished(); left.length > 0; left = await unfinished()) {
      for (const swap of left) await request('GET', `/alpha~${swap}`)
    }
    const waiting = async (): Promise<number> => {
      const { rows } = await database.query(
        `SELECT (SELECT count(*) FROM webhook_deliveries WHERE webhook = $1 AND state = 'waiting')
          + (SELECT count(*) FROM transaction_events WHERE number IS NULL) AS count`,
        [webhook.id],
      )
      return Number(rows[0]?.count)
    }
    // As long as they become fewer: ten thousand swaps take their time on a slow machine.
    for (let left = await waiting(); left > 0; ) {
      const before = left
      await expect.poll(async () => (left = await waiting()), { timeout: 180_000, interval: 200 }).toBeLessThan(before)
    }
    isOver = true
    await hastening

    const { rows } = await database.query<{ number: string; provider_id: string; state: string }>(
      'SELECT number, provider_id, state FROM transaction_events ORDER BY id',
    )
    const known = new Map(
      rows.map((row) => [`${webhook.id}_${row.number}`, { ...row, status: JSON.parse(row.state).status as string }]),
    )
    expect(swaps).toHaveLength(swapCount)
    const accepted = new Set(told.filter(({ status }) => status === 200).map(({ id }) => id))
    const { rows: states } = await database.query<{ id: string; state: string; attempt_count: number }>(
      'SELECT id, state, attempt_count FROM webhook_deliveries WHERE webhook = $1',
      [webhook.id],
    )
    expect(states.filter(({ state }) => state !== 'delivered')).toEqual([])
    expect([...known.keys()].filter((id) => !accepted.has(id))).toEqual([])
    expect(told.filter(({ id }) => !known.has(id))).toEqual([])
    const bodies = new Map<string, string>()
    const lastNumbers = new Map<string, number>()
    for (const { id, body } of told) {
      expect(bodies.getOrInsert(id, body)).toBe(body)
      const { data } = JSON.parse(body)
      const event = known.get(id)
      expect([data.id, data.status]).toEqual([`alpha~${event?.provider_id}`, event?.status])
      const number = Number(event?.number)
      expect(number).toBeGreaterThanOrEqual(lastNumbers.get(data.id) ?? 0)
      lastNumbers.set(data.id, number)
    }
    const ofSwaps = Map.groupBy(known.values(), ({ provider_id }) => provider_id)
    for (const swap of swaps) {
      const changes = ofSwaps.get(swap)?.map(({ status }) => status) ?? []
      // Of those between, a killed gateway may have taken one along.
      expect(changes).toEqual(statuses.filter((status) => changes.includes(status)))
      expect([changes[0], changes.at(-1)]).toEqual(['wait', 'success'])
    }
  },
  killCount * 20_000 + 300_000,
)
