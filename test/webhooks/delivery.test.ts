/** docs/contract.md §18.3: what webhooks are told, in which order, how often, and by whom, over both stores. */
import { randomBytes, randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { Webhook as Verifier } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { makeWebhookSecret, secretBox } from '../../src/adapters/webhook-crypto.ts'
import { retryDelaysMs, WebhookDelivery } from '../../src/core/events/webhook-delivery.ts'
import { replayDelivery } from '../../src/core/operations/webhooks.ts'
import type { LedgerEntry } from '../../src/core/ports/ledger.ts'
import type { Attempt, Delivery, DeliveryQuery, EncodeChange, SendWebhook, Webhook } from '../../src/core/ports/webhooks.ts'
import type { Observation } from '../../src/domain/observation.ts'
import { changeEncoder } from '../../src/gateway/webhook-bodies.ts'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { removeOldDeliveries } from '../../src/process/retention.ts'
import { webhookSender } from '../../src/process/webhook-sender.ts'
import { query } from '../ledger/raw.ts'
import { depositOf, facts } from '../ledger/samples.ts'
import { describeStores, durableStores } from '../ledger/stores.ts'
import { type Received, Receiver } from './receiver.ts'

const all = { onlyFailed: false, size: 99 }
const secrets = secretBox([randomBytes(32).toString('base64')])
const encode: EncodeChange = changeEncoder({ coin: () => undefined } as never)

interface Sent {
  readonly webhook: string
  readonly id: string
  readonly body: string
  readonly data: { readonly id: string; readonly status: string; readonly depositAddress?: string }
}

/** Attempts that a test answers itself. */
class Receivers {
  readonly sent: Sent[] = []
  readonly secrets: string[] = []
  answer: (sent: Sent) => Partial<Attempt> | Promise<Partial<Attempt>> = () => ({ status: 200 })

  readonly send: SendWebhook = async ({ id: webhook, secret, previous }, id, body) => {
    this.secrets.push(previous ? secret : `${secret} alone`)
    const sent = { webhook, id, body, data: JSON.parse(body).data }
    this.sent.push(sent)
    return { at: Date.now(), status: null, ms: 1, body: '', ...(await this.answer(sent)) }
  }

  statuses(id: string, webhook?: string): readonly string[] {
    const own = this.sent.filter(({ data, webhook: to }) => data.id === `alpha~${id}` && (webhook ?? to) === to)
    return own.map(({ data }) => data.status)
  }
}

async function pageOf({ webhooks }: Pick<OpenLedger, 'webhooks'>, webhook: string, query: DeliveryQuery) {
  const { parts, next } = await webhooks.deliveries(webhook, query)
  return { rows: (await Array.fromAsync(parts)).flat(), next }
}

async function deliveriesOf(
  stores: Pick<OpenLedger, 'webhooks'>,
  webhook: string,
  query: DeliveryQuery = all,
): Promise<readonly Delivery[]> {
  return (await pageOf(stores, webhook, query)).rows
}

const claimed = 'SELECT 1 FROM webhook_queues WHERE claim IS NOT NULL LIMIT 1'

describeStores(durableStores, (shared) => {
  interface Rig {
    readonly stores: OpenLedger & { readonly url: string }
    readonly receivers: Receivers
    readonly observed: Observation[]
    readonly owner: string
    readonly add: (url?: string) => Promise<Webhook>
    readonly process: (stores?: OpenLedger, receivers?: Receivers, encoder?: EncodeChange) => WebhookDelivery
    /** Until nothing is due and nothing is under way. */
    readonly settle: (delivery: WebhookDelivery) => Promise<void>
    readonly change: (id: string, transaction?: object, more?: object) => Promise<void>
    readonly hasten: () => Promise<unknown>
  }

  async function rig(): Promise<Rig> {
    const stores = await shared().openNew()
    onTestFinished(() => stores.close())
    await stores.accounts.addKey({ id: 'key', name: 'acme', createdAt: 1 }, 'digest', 'tester')
    const owner = (await stores.accounts.findKeys(['digest'])).get('digest')?.identity ?? ''
    const [receivers, observed] = [new Receivers(), [] as Observation[]]
    const known = new Map<string, LedgerEntry>()
    return {
      stores,
      receivers,
      observed,
      owner,
      async add(url = 'https://hooks.example/') {
        const id = `wh_${randomUUID()}`
        const secret = secrets.seal(makeWebhookSecret(), id)
        const added = await stores.webhooks.add({ id, account: 'acme', url, form: 'A', secret, createdAt: 1 }, 'tester')
        if (!added) throw new Error('There is no account.')
        return added
      },
      process(on = stores, to = receivers, encoder = encode) {
        const delivery = new WebhookDelivery({
          store: on.webhooks,
          send: () => to.send,
          encode: () => encoder,
          observe: (one) => observed.push(one),
        })
        onTestFinished(() => delivery.stop(0))
        return delivery
      },
      async settle(delivery) {
        while ((await stores.events.number()).mayBeMore);
        await delivery.look()
        const areClaimed = async () => (await query(stores.url, claimed)).length > 0
        let calm = 0
        // What is claimed may wait for a store that is slow, or for a receiver that the test keeps silent.
        for (let before = -1; calm < ((await areClaimed()) ? 100 : 5); before = receivers.sent.length) {
          calm = before === receivers.sent.length && (await stores.webhooks.due()).length === 0 ? calm + 1 : 0
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      },
      async change(id, transaction = {}, more = {}) {
        const before = known.get(id)
        const entry = await stores.ledger.upsert(
          owner,
          'alpha',
          facts(id, transaction, { sequence: (before?.sequence ?? 0) + 1, ...more }),
          before,
        )
        if (entry) known.set(id, entry)
      },
      // As if the time until the next attempt were over.
      hasten: () => query(stores.url, 'UPDATE webhook_queues SET due_at = 1 WHERE due_at IS NOT NULL AND claim IS NULL'),
    }
  }

  test('each change of a transaction arrives once, in its order, with what a get returned then', async () => {
    const { add, process, change, settle, receivers, stores } = await rig()
    const webhook = await add()
    const delivery = process()
    for (const status of ['wait', 'confirmation', 'exchanging', 'success']) {
      await change('x', { status })
      await change('y', { status })
    }
    await settle(delivery)
    for (const id of ['x', 'y']) expect(receivers.statuses(id)).toEqual(['wait', 'confirmation', 'exchanging', 'success'])
    const [first] = receivers.sent
    expect(JSON.parse(first?.body ?? '')).toMatchObject({
      type: 'transaction.updated',
      timestamp: expect.stringMatching(/Z$/),
      data: { depositAddress: depositOf('x') },
    })
    expect(first?.body).toContain('0.123456789012345678')
    expect(new Set(receivers.sent.map(({ id }) => id)).size).toBe(8)
    expect(await stores.webhooks.counts(webhook.id)).toEqual({ waiting: 0, failed: 0 })
    await settle(delivery)
    expect(receivers.sent).toHaveLength(8)
  })

  test('a webhook is told nothing of before, nor of another account', async () => {
    const { add, process, change, settle, receivers, stores } = await rig()
    await change('x', { status: 'wait' })
    while ((await stores.events.number()).mayBeMore);
    await add()
    await stores.ledger.upsert('another owner', 'alpha', facts('z'))
    await change('x', { status: 'exchanging' })
    await settle(process())
    expect(receivers.sent.map(({ data }) => [data.id, data.status])).toEqual([['alpha~x', 'exchanging']])
  })

  test('a failed attempt holds up its transaction at its webhook, and nothing else; each attempt has the same id and bytes', async () => {
    const { add, process, change, settle, receivers, hasten } = await rig()
    const [one, other] = [await add(), await add()]
    const delivery = process()
    receivers.answer = ({ webhook, data }) => ({ status: webhook === one.id && data.id === 'alpha~x' ? 500 : 200 })
    for (const status of ['wait', 'exchanging']) for (const id of ['x', 'y']) await change(id, { status })
    await settle(delivery)
    expect(receivers.statuses('x', one.id)).toEqual(['wait'])
    expect(receivers.statuses('y', one.id)).toEqual(['wait', 'exchanging'])
    for (const id of ['x', 'y']) expect(receivers.statuses(id, other.id)).toEqual(['wait', 'exchanging'])
    receivers.answer = () => ({ status: 200 })
    await settle(delivery)
    expect(receivers.statuses('x', one.id)).toEqual(['wait']) // not due yet
    await hasten()
    await settle(delivery)
    expect(receivers.statuses('x', one.id)).toEqual(['wait', 'wait', 'exchanging'])
    const [first, second] = receivers.sent.filter(({ webhook, data }) => webhook === one.id && data.id === 'alpha~x')
    expect(second).toEqual(first)
  })

  test('it is tried eight times after the pauses of the contract, then it has failed, and its queue goes on', async () => {
    const { add, process, change, settle, receivers, hasten, observed, stores } = await rig()
    const webhook = await add()
    const delivery = process()
    receivers.answer = ({ data }) => (data.status === 'wait' ? { status: 302, body: 'no' } : { status: 200 })
    await change('x', { status: 'wait' })
    await change('x', { status: 'exchanging' })
    const pauses: number[] = []
    for (let attempt = 0; attempt < 8; attempt++) {
      await settle(delivery)
      const [row] = await query(stores.url, 'SELECT due_at FROM webhook_queues')
      if (row?.due_at != null) pauses.push(Number(row.due_at) - Date.now())
      await hasten()
    }
    expect(retryDelaysMs).toEqual([5, 60, 600, 3_600, 21_600, 86_400, 172_800].map((seconds) => seconds * 1_000))
    for (const [at, pause] of retryDelaysMs.entries()) {
      expect(pauses[at]).toBeGreaterThan(pause - 4_000)
      expect(pauses[at]).toBeLessThanOrEqual(pause + 1_000)
    }
    await settle(delivery)
    expect(receivers.statuses('x')).toEqual([...Array.from({ length: 8 }, () => 'wait'), 'exchanging'])
    const [last, failed] = await deliveriesOf(stores, webhook.id, { onlyFailed: false, size: 9 })
    expect([last?.state, failed?.state, failed?.attempts.length]).toEqual(['delivered', 'failed', 8])
    expect(failed?.attempts[0]).toEqual({ at: expect.any(Number), status: 302, ms: 1, body: 'no' })
    expect(await deliveriesOf(stores, webhook.id, { onlyFailed: true, size: 9 })).toEqual([failed])
    const outcomes = observed.flatMap((one) => (one.what === 'webhookAttempt' ? [one.outcome] : []))
    expect(outcomes).toEqual([...Array.from({ length: 7 }, () => 'retried'), 'failed', 'delivered'])
  })

  test('however many webhooks are due, only a few calls of the ledger run at a time, and what was sent is stored first', async () => {
    const { add, process, change, settle, receivers, stores } = await rig()
    const count = 30
    for (let made = 0; made < count; made++) await add()
    let [running, most] = [0, 0]
    const calls: string[] = []
    const counted = async <Result>(name: string, call: () => Promise<Result>): Promise<Result> => {
      calls.push(name)
      most = Math.max(most, ++running)
      return await call().finally(() => running--)
    }
    const webhooks = {
      ...stores.webhooks,
      claim: (...args: Parameters<typeof stores.webhooks.claim>) => counted('claim', () => stores.webhooks.claim(...args)),
      finish: (...args: Parameters<typeof stores.webhooks.finish>) => counted('finish', () => stores.webhooks.finish(...args)),
    }
    const delivery = process({ ...stores, webhooks })
    await change('x', { status: 'wait' })
    await settle(delivery)
    expect(receivers.sent).toHaveLength(count)
    expect(most).toBeLessThanOrEqual(4)
    expect(calls.indexOf('finish')).toBeLessThan(count / 2)
  })

  test('changes that very many webhooks are told of get their numbers in steps, so that none takes too long', async () => {
    const { change, owner, stores } = await rig()
    const webhooks = Array.from(
      { length: 1_001 },
      (_, at) => `('wh_${at}', '${owner}', 'https://hooks.example/', 'A', '', 'active', 1)`,
    )
    await query(stores.url, `INSERT INTO webhooks (id, owner, url, form, secret, state, created_at) VALUES ${webhooks.join(', ')}`)
    for (const id of ['x', 'y', 'z']) await change(id, { status: 'wait' })
    const steps = [await stores.events.number(), await stores.events.number(), await stores.events.number()]
    expect(steps.map(({ count, mayBeMore }) => [count, mayBeMore])).toEqual([
      [1, true],
      [1, true],
      [1, false],
    ])
    const [told] = await query(stores.url, 'SELECT count(*) AS count FROM webhook_deliveries')
    expect(Number(told?.count)).toBe(3_003)
  })

  test('the counts of all webhooks are those of each, in one read', async () => {
    const { add, process, change, settle, receivers, stores } = await rig()
    const [silent, good, gone] = [await add(), await add(), await add()]
    receivers.answer = ({ webhook }) => ({ status: webhook === silent.id ? 500 : webhook === gone.id ? 410 : 200 })
    for (const status of ['wait', 'exchanging']) for (const id of ['x', 'y']) await change(id, { status })
    await settle(process())
    const counts = await stores.webhooks.countsOfAll()
    expect(counts.get(silent.id)).toEqual({ waiting: 4, failed: 0 })
    expect(counts.get(good.id)).toBeUndefined()
    for (const { id } of [silent, gone]) expect(counts.get(id)).toEqual(await stores.webhooks.counts(id))
  })

  test('410 switches the webhook off, with one record of the audit log, and nothing more is sent', async () => {
    const { add, process, change, settle, receivers, stores } = await rig()
    const webhook = await add()
    const delivery = process()
    receivers.answer = () => ({ status: 410 })
    for (const id of ['x', 'y']) await change(id)
    await settle(delivery)
    expect(await stores.webhooks.find(webhook.id)).toMatchObject({ state: 'gone' })
    const before = receivers.sent.length
    await change('x', { status: 'exchanging' })
    await settle(delivery)
    expect(receivers.sent).toHaveLength(before)
    const records = (await stores.audit.read({})).filter(({ action }) => action === 'webhook.gone')
    expect(records).toMatchObject([{ subject: webhook.id, after: { status: 410 } }])
    expect(await stores.webhooks.gauges()).toEqual({ waiting: 0, oldestWaitingMs: 0 })
  })

  /** Fifty swaps wait, and the first eight requests are answered when the test says so. */
  async function fifty() {
    const made = await rig()
    const { add, process, change, receivers, stores } = made
    const webhook = await add()
    const answers = Promise.withResolvers<Partial<Attempt>>()
    receivers.answer = () => answers.promise
    for (let at = 0; at < 50; at++) await change(`t${at}`)
    while ((await stores.events.number()).mayBeMore);
    const delivery = process()
    await delivery.look()
    await expect.poll(() => receivers.sent.length).toBe(8)
    return { ...made, webhook, delivery, answers }
  }

  test('after 410 what is under way ends, and nothing more is sent of what waits', async () => {
    const { answers, settle, delivery, receivers, stores, webhook } = await fifty()
    receivers.answer = () => ({ status: 200 })
    answers.resolve({ status: 410 })
    await settle(delivery)
    expect(receivers.sent).toHaveLength(8)
    expect(await stores.webhooks.find(webhook.id)).toMatchObject({ state: 'gone' })
  })

  test.each([200, 500])(
    'after its removal a webhook gets nothing more of what waits, nor again what is under way and ends with %i',
    async (status) => {
      const { answers, settle, delivery, receivers, hasten, stores, webhook } = await fifty()
      await stores.webhooks.remove(webhook.id, 2, 'tester')
      answers.resolve({ status })
      await settle(delivery)
      await hasten()
      await settle(delivery)
      expect(receivers.sent).toHaveLength(8)
    },
  )

  test('after a rotation without overlap only the new secret signs what waits', async () => {
    const { answers, settle, delivery, receivers, stores, webhook } = await fifty()
    const secret = secrets.seal(makeWebhookSecret(), webhook.id)
    await stores.webhooks.rotate(webhook.id, secret, 2, 2, 'tester')
    answers.resolve({ status: 200 })
    await settle(delivery)
    expect(receivers.sent).toHaveLength(50)
    expect(new Set(receivers.secrets.slice(8))).toEqual(new Set([`${secret} alone`]))
  })

  test('a rotation during a delivery: its next attempts have two signatures during the overlap, and one after it', async () => {
    const { change, settle, hasten, stores } = await rig()
    await using to = await Receiver.start()
    const origin = `http://127.0.0.1:${to.port}`
    const keys = [randomBytes(32).toString('base64')]
    const box = secretBox(keys)
    const id = `wh_${randomUUID()}`
    const [old, next] = [makeWebhookSecret(), makeWebhookSecret()]
    const added = { id, account: 'acme', url: origin, form: 'A', secret: box.seal(old, id), createdAt: 1 }
    await stores.webhooks.add(added, 'tester')
    const answer = Promise.withResolvers<number>()
    to.respond = async (_, response) => response.writeHead(await answer.promise).end()
    const send = webhookSender({ webhooks: { key: keys, allow: [origin], proxy: undefined } })
    const delivery = new WebhookDelivery({ store: stores.webhooks, send: () => send, encode: () => encode, observe: () => {} })
    onTestFinished(() => delivery.stop(0))
    await change('x')
    while ((await stores.events.number()).mayBeMore);
    await delivery.look()
    await expect.poll(() => to.received.length).toBe(1)
    await stores.webhooks.rotate(id, box.seal(next, id), Date.now(), Date.now() + 3_600_000, 'tester')
    answer.resolve(500)
    const attempt = async (count: number): Promise<Received> => {
      await expect.poll(async () => (await deliveriesOf(stores, id))[0]?.attempts.length).toBe(count - 1)
      await hasten()
      await settle(delivery)
      await expect.poll(() => to.received.length).toBe(count)
      return to.received[count - 1] as Received
    }
    const during = await attempt(2)
    await query(stores.url, `UPDATE webhooks SET previous_until = ${Date.now() - 1}`)
    const after = await attempt(3)
    const signers = [old, next]
    const verifiedBy = ({ body, headers }: Received) =>
      signers.map((secret) => {
        try {
          return Boolean(new Verifier(secret).verify(body, headers as Record<string, string>))
        } catch {
          return false
        }
      })
    const [before] = to.received as [Received]
    expect([before, during, after].map(verifiedBy)).toEqual([
      [true, false],
      [true, true],
      [false, true],
    ])
    expect([before, during, after].map(({ headers }) => String(headers['webhook-signature']).split(' ').length)).toEqual([1, 2, 1])
    expect([during, after].map(({ body, headers }) => [body, headers['webhook-id']])).toEqual(
      Array.from({ length: 2 }, () => [before.body, before.headers['webhook-id']]),
    )
  })

  test('a webhook that was removed gets nothing more', async () => {
    const { add, process, change, settle, receivers, stores } = await rig()
    const webhook = await add()
    await change('x')
    while ((await stores.events.number()).mayBeMore);
    await stores.webhooks.remove(webhook.id, 2, 'tester')
    await settle(process())
    expect(receivers.sent).toEqual([])
  })

  test('at most eight requests at a time go to one webhook, over two processes, and a receiver that never answers delays no other', async () => {
    const { add, process, change, receivers, stores } = await rig()
    const [dead, alive] = [await add(), await add()]
    const second = await openLedger(stores.url)
    onTestFinished(second.close)
    const never = Promise.withResolvers<Partial<Attempt>>()
    const other = new Receivers()
    for (const to of [receivers, other]) to.answer = ({ webhook }) => (webhook === dead.id ? never.promise : { status: 200 })
    const deliveries = [process(), process(second, other)]
    for (let at = 0; at < 12; at++) await change(`t${at}`)
    while ((await stores.events.number()).mayBeMore);
    const sentTo = (webhook: Webhook) => [...receivers.sent, ...other.sent].filter((sent) => sent.webhook === webhook.id)
    const look = () => Promise.all(deliveries.map((each) => each.look()))
    await look()
    await expect.poll(() => sentTo(alive).length).toBe(12)
    await look()
    expect(sentTo(dead)).toHaveLength(8)
    never.resolve({ status: 200 })
    await expect.poll(() => sentTo(dead).length).toBe(12)
    const ids = sentTo(dead).map(({ data }) => data.id)
    expect(ids.sort()).toEqual(Array.from({ length: 12 }, (_, at) => `alpha~t${at}`).sort())
  })

  test('what a killed process had under way is sent again within 30 seconds, with the same id, and its late result counts no more', async () => {
    const { add, process, change, settle, receivers, stores } = await rig()
    await add()
    const late = Promise.withResolvers<Partial<Attempt>>()
    receivers.answer = () => late.promise
    await change('x', { status: 'wait' })
    await change('x', { status: 'exchanging' })
    while ((await stores.events.number()).mayBeMore);
    const killed = process()
    await killed.look()
    await expect.poll(() => receivers.sent.length).toBe(1)
    const [queue] = await query(stores.url, 'SELECT due_at FROM webhook_queues')
    expect(Number(queue?.due_at) - Date.now()).toBeLessThan(28_000)
    await query(stores.url, 'UPDATE webhook_queues SET due_at = 1')
    receivers.answer = () => ({ status: 200 })
    await settle(process())
    expect(receivers.statuses('x')).toEqual(['wait', 'wait', 'exchanging'])
    expect(receivers.sent[1]?.id).toBe(receivers.sent[0]?.id)
    late.resolve({ status: 500 })
    await turn()
    await settle(process())
    expect(receivers.sent).toHaveLength(3)
  })

  test('a webhook that the ledger had at a restore gets nothing until a person has confirmed it, and then all of it in order', async () => {
    const { add, process, change, settle, receivers, stores } = await rig()
    const [first, second] = [await add(), await add('https://other.example/')]
    const delivery = process()
    await change('x', { status: 'wait' })
    await settle(delivery)
    const before = receivers.sent.map(({ id }) => id)
    expect(before).toHaveLength(2)
    await stores.restores.mark(['alpha'], undefined, 'tester')
    expect(await stores.restores.held()).toEqual({ webhooks: 2, actions: true })
    const added = await add('https://new.example/')
    for (const status of ['confirmation', 'success']) await change('x', { status })
    await settle(delivery)
    expect(receivers.sent.slice(2).map(({ webhook }) => webhook)).toEqual([added.id, added.id])
    expect(await stores.webhooks.findToReplay(before[0] ?? '', encode)).toBeUndefined()
    expect(await stores.restores.confirmWebhooks([first.id], undefined, 'tester')).toEqual([first.id])
    await settle(delivery)
    expect(receivers.statuses('x', first.id)).toEqual(['wait', 'confirmation', 'success'])
    expect(receivers.statuses('x', second.id)).toEqual(['wait'])
    expect(await stores.restores.confirmWebhooks(undefined, 'looked at', 'tester')).toEqual([second.id])
    expect(await stores.restores.confirmWebhooks(undefined, undefined, 'tester')).toEqual([])
    await settle(delivery)
    expect(receivers.statuses('x', second.id)).toEqual(['wait', 'confirmation', 'success'])
    const ids = receivers.sent.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('where the swap is contradicted by now, what waits goes out without its deposit address, and so at each attempt', async () => {
    const { add, process, change, settle, receivers, hasten, stores, owner } = await rig()
    await add()
    const delivery = process()
    receivers.answer = () => ({ status: 500 })
    await change('x', { status: 'wait' })
    await settle(delivery)
    expect(receivers.sent[0]?.data.depositAddress).toBe(depositOf('x'))
    const entry = await stores.ledger.find(owner, 'alpha', 'x')
    if (!entry) throw new Error('It is gone.')
    await stores.ledger.upsert(owner, 'alpha', { ...entry, doubt: 'contradicted', sequence: 9 }, entry)
    await hasten()
    await settle(delivery)
    await hasten()
    await settle(delivery)
    const [, second, third] = receivers.sent
    expect(second?.data.depositAddress).toBeFalsy()
    expect(second?.body).not.toContain(depositOf('x'))
    expect(third).toEqual(second)
    expect(second?.id).toBe(receivers.sent[0]?.id)
  })

  test('where the swap has failed since, though money was seen, what waited goes out without its deposit address', async () => {
    const { add, process, change, settle, receivers, hasten, stores } = await rig()
    await add()
    const delivery = process()
    receivers.answer = () => ({ status: 500 })
    const paid = { status: 'confirmation', txHashIn: 'hash' }
    await change('x', paid, { changedAt: Date.now() })
    await settle(delivery)
    expect(receivers.sent[0]?.data.depositAddress).toBe(depositOf('x'))
    await change('x', { ...paid, attention: 'failed' }, { changedAt: Date.now() })
    receivers.answer = () => ({ status: 200 })
    await hasten()
    await settle(delivery)
    const [, waited, failure] = receivers.sent
    expect(waited?.body).not.toContain(depositOf('x'))
    expect(failure?.data).toMatchObject({ attention: 'failed', depositAddress: depositOf('x') }) // as a get returns it
    expect(await stores.webhooks.gauges()).toMatchObject({ waiting: 0 })
  })

  test('a swap that cannot be read now holds up no other, and goes out without its deposit address', async () => {
    const { add, process, change, settle, receivers, stores } = await rig()
    await add()
    for (const id of ['x', 'y']) await change(id, { status: 'wait' })
    while ((await stores.events.number()).mayBeMore);
    await query(stores.url, "UPDATE transactions SET record = 'of a later version' WHERE provider_id = 'x'")
    await settle(process())
    expect(receivers.sent.map(({ data: { id, depositAddress } }) => [id, depositAddress]).toSorted()).toEqual([
      ['alpha~x', undefined],
      ['alpha~y', depositOf('y')],
    ])
  })

  test('while no key reads its secret nothing is tried, and it waits', async () => {
    const { add, process, change, settle, receivers, hasten, stores, observed } = await rig()
    const webhook = await add()
    const delivery = process()
    receivers.answer = () => ({ status: null, reason: 'secret' })
    await change('x')
    await settle(delivery)
    expect(await deliveriesOf(stores, webhook.id, { onlyFailed: false, size: 9 })).toMatchObject([
      { state: 'waiting', attempts: [] },
    ])
    expect(observed).toMatchObject([{ what: 'webhookAttempt', outcome: 'held' }])
    expect(await stores.webhooks.gauges()).toMatchObject({ waiting: 1 })
    receivers.answer = () => ({ status: 200 })
    await query(stores.url, 'UPDATE webhook_queues SET due_at = 1')
    await hasten()
    await settle(delivery)
    expect(await stores.webhooks.counts(webhook.id)).toEqual({ waiting: 0, failed: 0 })
  })

  test('a replay goes at once, beside the queue, with the same id and bytes', async () => {
    const { add, process, change, settle, receivers, stores } = await rig()
    const webhook = await add()
    receivers.answer = () => ({ status: 500 })
    await change('x', { status: 'wait' })
    await change('x', { status: 'exchanging' })
    await settle(process())
    const [waiting, tried] = await deliveriesOf(stores, webhook.id, { onlyFailed: false, size: 9 })
    receivers.answer = () => ({ status: 201 })
    const replay = async (id = '') => (await replayDelivery({ ...stores, actor: 'tester' }, id, receivers.send, encode))?.attempt
    expect(await replay(tried?.id)).toMatchObject({ status: 201 })
    expect(receivers.sent[1]).toEqual(receivers.sent[0])
    expect(await replay(waiting?.id)).toMatchObject({ status: 201 })
    expect(receivers.statuses('x')).toEqual(['wait', 'wait', 'exchanging'])
    const after = await deliveriesOf(stores, webhook.id, { onlyFailed: false, size: 9 })
    expect(after.map(({ state, attempts }) => [state, attempts.length])).toEqual([
      ['waiting', 1],
      ['waiting', 2],
    ])
    await query(stores.url, `UPDATE webhook_deliveries SET state = 'failed' WHERE id = '${tried?.id}'`)
    await replay(tried?.id)
    expect((await deliveriesOf(stores, webhook.id, { onlyFailed: false, size: 9 }))[1]?.state).toBe('delivered')
    expect(await replay('wh_nothing')).toBeUndefined()
    await stores.webhooks.remove(webhook.id, 2, 'tester')
    expect(await replay(tried?.id)).toBeUndefined()
    expect((await stores.audit.read({})).filter(({ action }) => action === 'webhook.replay')).toHaveLength(3)
  })

  test('a page comes after a delivery that is gone as little as after one that never was: that is said, and no row is left out unseen', async () => {
    const { add, change, stores } = await rig()
    const webhook = await add()
    for (const status of ['wait', 'confirmation', 'exchanging']) await change('x', { status })
    while ((await stores.events.number()).mayBeMore);
    const page = (after?: string) => pageOf(stores, webhook.id, { onlyFailed: false, after, size: 1 })
    const { next } = await page()
    expect((await page(next)).rows).toHaveLength(1)
    await query(stores.url, `DELETE FROM webhook_deliveries WHERE id = '${next}'`)
    await expect(page(next)).rejects.toMatchObject({ kind: 'notFound' })
    await expect(page('nothing')).rejects.toMatchObject({ kind: 'notFound' })
    const oldest = (await deliveriesOf(stores, webhook.id)).at(-1)?.id
    expect(await page(oldest)).toEqual({ rows: [], next: undefined })
  })

  test('an event stays while a delivery of it waits', async () => {
    const { add, process, change, settle, receivers, hasten, stores } = await rig()
    await add()
    const delivery = process()
    receivers.answer = () => ({ status: 500 })
    for (const status of ['wait', 'exchanging', 'success']) await change('x', { status })
    await settle(delivery)
    await query(stores.url, 'UPDATE transaction_events SET at = 1')
    await stores.retention.eventsStep(1)
    receivers.answer = () => ({ status: 200 })
    await hasten()
    await settle(delivery)
    expect(receivers.statuses('x')).toEqual(['wait', 'wait', 'exchanging', 'success'])
    await stores.retention.eventsStep(1)
    const left = await query(stores.url, 'SELECT transaction_number FROM transaction_events')
    expect(left.map(({ transaction_number }) => Number(transaction_number))).toEqual([3])
  })

  test('a delivery whose event is gone has failed, its queue goes on, and others are not held up', async () => {
    const { add, process, change, settle, receivers, stores, observed, owner } = await rig()
    const webhook = await add()
    for (const status of ['wait', 'exchanging']) for (const id of ['x', 'y']) await change(id, { status })
    while ((await stores.events.number()).mayBeMore);
    await query(stores.url, "DELETE FROM transaction_events WHERE provider_id = 'x' AND transaction_number = 1")
    await settle(process())
    expect([receivers.statuses('x'), receivers.statuses('y')]).toEqual([['exchanging'], ['wait', 'exchanging']])
    const failed = await deliveriesOf(stores, webhook.id, { onlyFailed: true, size: 9 })
    expect(failed).toMatchObject([{ providerId: 'x', attempts: [{ status: null, reason: 'event' }] }])
    expect(observed).toContainEqual(expect.objectContaining({ what: 'webhookAttempt', outcome: 'failed', why: 'event' }))
    const replay = async () =>
      (await replayDelivery({ ...stores, actor: 'tester' }, failed[0]?.id ?? '', receivers.send, encode))?.attempt
    expect(await replay()).toBeUndefined() // nothing was ever written
    await query(stores.url, `UPDATE webhook_deliveries SET body = '{"data":{"id":"kept"}}' WHERE id = '${failed[0]?.id}'`)
    expect(await replay()).toMatchObject({ status: 200 })
    expect(receivers.sent.at(-1)?.data.id).toBe('kept')
    await query(
      stores.url,
      `UPDATE webhook_deliveries SET body = '{"data":{"to":"${depositOf('x')}"}}' WHERE id = '${failed[0]?.id}'`,
    )
    const entry = await stores.ledger.find(owner, 'alpha', 'x')
    if (entry) await stores.ledger.upsert(owner, 'alpha', { ...entry, doubt: 'contradicted', sequence: 9 }, entry)
    expect(await replay()).toBeUndefined()
  })

  test('an event that is removed while its delivery waits: what was sent of it is sent again, unless it may not be paid any more', async () => {
    const { add, process, change, settle, receivers, hasten, stores, owner } = await rig()
    const webhook = await add()
    const delivery = process()
    receivers.answer = () => ({ status: 500 })
    await change('x', { status: 'wait' })
    await settle(delivery)
    await query(stores.url, 'DELETE FROM transaction_events')
    await hasten()
    await settle(delivery)
    const [first, second] = receivers.sent
    expect(first?.body).toContain(depositOf('x'))
    expect(second).toEqual(first)
    const entry = await stores.ledger.find(owner, 'alpha', 'x')
    if (entry) await stores.ledger.upsert(owner, 'alpha', { ...entry, doubt: 'contradicted', sequence: 9 }, entry)
    await query(stores.url, 'DELETE FROM transaction_events')
    await hasten()
    await settle(delivery)
    expect(receivers.sent).toHaveLength(2)
    const [gone] = await deliveriesOf(stores, webhook.id, { onlyFailed: true, size: 9 })
    expect(gone).toMatchObject({ state: 'failed', attempts: [{}, {}, { status: null, reason: 'event' }] })
  })

  test('a body that cannot be written is tried again later, and holds up no other transaction', async () => {
    const { add, process, change, settle, receivers, hasten, observed } = await rig()
    await add()
    let isBroken = true
    const breaking: EncodeChange = (told, form) => {
      if (isBroken && told.entry.transaction.id === 'x') throw new Error('It has no such form.')
      return encode(told, form)
    }
    const delivery = process(undefined, undefined, breaking)
    for (const id of ['x', 'y']) await change(id, { status: 'wait' })
    await settle(delivery)
    expect([receivers.statuses('x'), receivers.statuses('y')]).toEqual([[], ['wait']])
    expect(observed).toContainEqual(expect.objectContaining({ what: 'webhookAttempt', outcome: 'retried', why: 'body' }))
    isBroken = false
    await hasten()
    await settle(delivery)
    expect(receivers.statuses('x')).toEqual(['wait'])
  })

  test('many changes of the same swaps that get their numbers at once are queued once for each swap', async () => {
    const { add, change, stores } = await rig()
    await add()
    for (const status of ['wait', 'exchanging', 'success']) for (let at = 0; at < 80; at++) await change(`t${at}`, { status })
    expect(await stores.events.number()).toMatchObject({ count: 240 })
    expect(await query(stores.url, 'SELECT * FROM webhook_queues')).toHaveLength(80)
  })

  test('deliveries are read in pages, the newest first, also those that have failed', async () => {
    const { add, change, stores } = await rig()
    const [webhook, other] = [await add(), await add()]
    for (let at = 0; at < 7; at++) await change(`t${at}`)
    while ((await stores.events.number()).mayBeMore);
    const pages = async (onlyFailed: boolean) => {
      const read: string[][] = []
      for (let after: string | undefined; ; ) {
        const { rows, next } = await pageOf(stores, webhook.id, { onlyFailed, after, size: 3 })
        read.push(rows.map(({ providerId }) => providerId))
        if (next === undefined) return read
        after = next
      }
    }
    expect(await pages(false)).toEqual([['t6', 't5', 't4'], ['t3', 't2', 't1'], ['t0']])
    await query(stores.url, "UPDATE webhook_deliveries SET state = 'failed' WHERE provider_id <> 't3'")
    expect(await pages(true)).toEqual([
      ['t6', 't5', 't4'],
      ['t2', 't1', 't0'],
    ])
    const [foreign] = await deliveriesOf(stores, other.id)
    for (const after of [foreign?.id, 'wh_nothing'])
      await expect(stores.webhooks.deliveries(webhook.id, { ...all, after })).rejects.toMatchObject({ kind: 'notFound' })
  })

  test('an ended webhook leaves no queues, also where they are due', async () => {
    const { add, change, stores } = await rig()
    const webhook = await add()
    for (const id of ['x', 'y']) await change(id)
    while ((await stores.events.number()).mayBeMore);
    await stores.webhooks.remove(webhook.id, 2, 'tester')
    await query(stores.url, "UPDATE webhook_deliveries SET created_at = 1 WHERE provider_id = 'x'")
    expect(await stores.webhooks.expire(30 * 86_400_000)).toBe(false)
    expect(await query(stores.url, 'SELECT provider_id FROM webhook_queues')).toEqual([{ provider_id: 'y' }])
  })

  test('what was sent while its webhook was removed, and its delivery as too old, ends without an error', async () => {
    const { add, change, stores } = await rig()
    const webhook = await add()
    for (const status of ['wait', 'exchanging'] as const) {
      await change('x', { status })
      while ((await stores.events.number()).mayBeMore);
    }
    const [delivery] = (await stores.webhooks.claim(webhook, encode))?.deliveries ?? []
    if (!delivery) throw new Error('Nothing is claimed.')
    await stores.webhooks.remove(webhook.id, 2, 'tester')
    await query(stores.url, `UPDATE webhook_deliveries SET created_at = 1 WHERE id = '${delivery.id}'`)
    await stores.webhooks.expire(30 * 86_400_000)
    const attempt = { at: Date.now(), status: 200, ms: 1, body: '' }
    expect(await stores.webhooks.finish(webhook, delivery, attempt, 'delivered')).toBe(false)
  })

  test('a webhook with eight requests under way is not looked for, and where nothing waits nobody is told', async () => {
    const { stores, delivery, receivers, answers, settle, change, webhook } = await fifty()
    expect(await stores.webhooks.due()).toEqual([])
    answers.resolve({ status: 200 })
    await settle(delivery)
    expect(receivers.sent).toHaveLength(50)
    await stores.webhooks.remove(webhook.id, 2, 'tester')
    let told = 0
    stores.webhooks.onNew(() => told++)
    await change('t1', { status: 'exchanging' })
    expect(await stores.events.number()).toMatchObject({ count: 1 })
    expect(told).toBe(0)
  })

  test('what is under way by a clock that was set back since is due', async () => {
    const { stores, receivers, delivery, settle, hasten } = await fifty()
    await query(stores.url, 'UPDATE webhook_queues SET due_at = due_at + 3600000')
    receivers.answer = () => ({ status: 200 })
    expect(await stores.webhooks.due()).toHaveLength(1)
    await hasten()
    await settle(delivery)
    expect(new Set(receivers.sent.map(({ id }) => id)).size).toBe(50)
    expect(receivers.sent).toHaveLength(58)
  })

  test('what may not be paid goes out with the same bytes at each attempt, whatever the assets are called by then', async () => {
    const { add, process, change, settle, receivers, hasten, stores, owner } = await rig()
    await add()
    let name = 'old name'
    const delivery = process(undefined, undefined, (told, form) => {
      const { body, isPayable } = encode(told, form)
      return { body: body.replace('"data":{', `"data":{"name":"${name}",`), isPayable }
    })
    receivers.answer = () => ({ status: 500 })
    await change('x', { status: 'wait' })
    const entry = await stores.ledger.find(owner, 'alpha', 'x')
    if (entry) await stores.ledger.upsert(owner, 'alpha', { ...entry, doubt: 'contradicted', sequence: 9 }, entry)
    await settle(delivery)
    name = 'new name'
    await hasten()
    await settle(delivery)
    expect(receivers.sent[0]?.body).toContain('old name')
    expect(receivers.sent[1]).toEqual(receivers.sent[0])
  })

  test('an attempt that is recorded beside another one is kept', async () => {
    const { stores, answers, settle, delivery, receivers, webhook } = await fifty()
    receivers.answer = () => ({ status: 200 })
    const id = receivers.sent[0]?.id
    const beside = query(
      stores.url,
      'BEGIN',
      `UPDATE webhook_deliveries SET attempts = '[{"at":1,"status":500,"ms":1,"body":""}]' WHERE id = '${id}'`,
      stores.url.startsWith('sqlite:') ? 'SELECT 1' : 'SELECT pg_sleep(0.7)',
      'COMMIT',
    )
    await new Promise((resolve) => setTimeout(resolve, 300))
    answers.resolve({ status: 200 })
    await beside
    await settle(delivery)
    const found = await deliveriesOf(stores, webhook.id, { onlyFailed: false, size: 99 })
    expect(found.find((one) => one.id === id)?.attempts.map(({ status }) => status)).toEqual([500, 200])
  })

  test('the removal of what ended pauses between its steps, and ends with the process', async () => {
    let steps = 0
    const startedAt = performance.now()
    const expire = async (): Promise<boolean> => ++steps > 0
    await removeOldDeliveries({ expire }, 1, () => steps === 5)
    expect(steps).toBe(5)
    expect(performance.now() - startedAt).toBeGreaterThan(60)
  })

  test('what ended is kept for its time, and goes with its transaction', async () => {
    const { add, process, change, settle, stores } = await rig()
    const webhook = await add()
    for (const id of ['x', 'y']) await change(id, { status: 'success' })
    await settle(process())
    while (await stores.webhooks.expire(30 * 86_400_000));
    expect(await deliveriesOf(stores, webhook.id, { onlyFailed: false, size: 9 })).toHaveLength(2)
    await query(stores.url, "DELETE FROM transactions WHERE provider_id = 'x'")
    expect(await deliveriesOf(stores, webhook.id, { onlyFailed: false, size: 9 })).toHaveLength(1)
    await query(stores.url, 'UPDATE webhook_deliveries SET created_at = 1, ended_at = 2')
    await stores.webhooks.expire(30 * 86_400_000)
    expect(await deliveriesOf(stores, webhook.id, { onlyFailed: false, size: 9 })).toEqual([])
    expect(await query(stores.url, 'SELECT * FROM webhook_queues')).toEqual([])
  })
})
