/** docs/contract-operators.md §10.6, rehearsed: swaps, webhooks, streams and repeats are in flight when a backup is restored. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { makeWebhookSecret, secretBox } from '../../src/adapters/webhook-crypto.ts'
import { WebhookDelivery } from '../../src/core/events/webhook-delivery.ts'
import { changeEncoder } from '../../src/gateway/webhook-bodies.ts'
import { type EventSource, openEvents } from '../support/event-source.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { digits } from '../support/json.ts'
import { orderIn } from '../support/managed.ts'
import { client } from '../support/pair.ts'
import { rounds } from '../support/rounds.ts'
import type { Phase, Seen } from './compare.ts'
import { restoreRig } from './rig.ts'

const swapCount = rounds(12, 200)
const accounts = ['acme', 'globex', 'initech'] as const
const secrets = secretBox([randomBytes(32).toString('base64')])
const webhookOf = (account: string): string => `wh_${account}`

interface Order {
  readonly account: string
  readonly key: string
  readonly amount: string
  id: string
}

test('what clients saw before the restore is what they see after it, swap by swap', { timeout: 600_000 }, async () => {
  const rig = await restoreRig()
  const journal: Seen[] = []
  let phase: Phase = 'before'
  let gateway = await rig.start()
  let keys = new Map<string, string>()
  let streams: { readonly account: string; readonly source: EventSource }[] = []
  const lastEvents = new Map<string, string>()

  const issueKeys = async (): Promise<void> => {
    keys = new Map(await Promise.all(accounts.map(async (account) => [account, await gateway.issueKey(account)] as const)))
  }
  const of = (account: string) => ({ key: keys.get(account) ?? '' })
  const listen = async (): Promise<void> => {
    for (const account of accounts) {
      const last = lastEvents.get(account)
      const headers = { authorization: `Bearer ${keys.get(account)}`, ...(last !== undefined && { 'last-event-id': last }) }
      streams.push({ account, source: await openEvents(`${gateway.url}/a/api/v2/events`, headers) })
    }
  }
  const told = ({ source }: { readonly source: EventSource }) => source.events.filter(({ event }) => event === 'transaction')
  /** As a client that reads all and is then cut off. */
  const hangUp = (): void => {
    for (const stream of streams) {
      for (const { id: number = '', data } of told(stream)) {
        const { id, status } = data as { id: string; status: string }
        journal.push({ what: 'event', phase, account: stream.account, number, id, state: status })
        lastEvents.set(stream.account, number)
      }
      stream.source.close()
    }
    streams = []
  }
  const deliver = async (): Promise<void> => {
    const { webhooks, events } = gateway.stores()
    const delivery = new WebhookDelivery({
      store: webhooks,
      send: () => async (webhook, number, body) => {
        const { id, status } = JSON.parse(body).data
        journal.push({ what: 'webhook', phase, account: webhook.account, number, id, state: status })
        return { at: Date.now(), status: 200, ms: 1, body: '' }
      },
      encode: () => changeEncoder(gateway.config.assets),
      observe: () => {},
    })
    onTestFinished(() => delivery.stop(0))
    while ((await events.number()).mayBeMore);
    await expect
      .poll(async () => {
        await delivery.look()
        return [...(await webhooks.countsOfAll()).values()].reduce((sum, { waiting }) => sum + waiting, 0)
      })
      .toBe(0)
    await delivery.stop(eventTimeoutMs)
  }
  const create = async (order: Order): Promise<void> => {
    const { account, key, amount } = order
    const body = orderIn('A', { amount: digits(amount) })
    const options = { ...of(account), headers: { 'idempotency-key': key } }
    const { status, json } = await client('A', gateway.url).post('/transactions', body, options)
    const { id, depositAddress: deposit } = json as { id?: string; depositAddress?: string }
    journal.push({ what: 'create', phase, account, key, status, ...(status === 201 && { id, deposit }) })
    if (status === 201 && id !== undefined) order.id = id
  }
  const get = async ({ account, id }: Order): Promise<void> => {
    const { status, json } = await client('A', gateway.url).get(`/transactions/${id}`, of(account))
    const { depositAddress: deposit } = json as { depositAddress?: string }
    journal.push({ what: 'get', phase, account, id, status, ...(status === 200 && { deposit }) })
  }
  const advance = (status: string, isMeant: (at: number) => boolean): void => {
    rig.alpha.holdings.swaps = rig.alpha.holdings.swaps.map((swap, at) => (isMeant(at) ? { ...swap, status } : swap))
  }

  await issueKeys()
  // Pairs of equal terms: nothing but its key tells an order from its neighbour.
  const orders = Array.from({ length: swapCount }, (_, at): Order => {
    const account = accounts[at % accounts.length] ?? 'acme'
    return { account, key: `order-${at}`, amount: `0.${100 + Math.floor(at / (2 * accounts.length))}`, id: '' }
  })
  for (const account of accounts)
    await gateway.stores().webhooks.add(
      {
        id: webhookOf(account),
        account,
        url: 'https://hooks.example/',
        form: 'A',
        secret: secrets.seal(makeWebhookSecret(), webhookOf(account)),
        createdAt: 1,
      },
      'tester',
    )
  await listen()
  const half = Math.ceil(swapCount / 2)
  for (const order of orders.slice(0, half)) await create(order)
  for (const order of orders.slice(0, half)) await get(order)
  await deliver()
  const backup = join(rig.place.directory, 'backup.db')
  expect((await rig.swapgate('ledger', 'backup', backup)).exitCode).toBe(0)
  for (const order of orders.slice(half)) await create(order)
  advance('confirmation', (at) => at % 3 === 0)
  for (const order of orders) await get(order)
  await deliver()
  for (const stream of streams) {
    const mine = journal.filter((seen) => seen.what === 'webhook' && seen.account === stream.account)
    await expect.poll(() => told(stream).length).toBe(mine.length)
  }
  hangUp()
  await gateway.close()

  phase = 'during'
  rig.restore(backup)
  expect((await rig.swapgate('ledger', 'mark-restored')).exitCode).toBe(0)
  gateway = await rig.start()
  await issueKeys()
  await listen()
  for (const order of orders) await get(order)
  for (const order of orders) await create(order)
  const created = rig.alpha.received('create').length
  expect((await rig.swapgate('ledger', 'rebuild', 'alpha', 'beta')).exitCode).toBe(0)
  await gateway.followRestores()
  advance('exchanging', (at) => at % 2 === 0)
  for (const order of orders) await create(order)
  for (const order of orders) await get(order)
  expect(await gateway.stores().webhooks.due()).toEqual([])
  // A wrong decision, and then the right ones, by what each client has of its orders.
  const [lost] = orders.slice(half)
  if (!lost) throw new Error('Nothing was lost.')
  const found = (...args: readonly string[]) => rig.swapgate('ledger', 'found', ...args, '--note', 'ticket 7')
  for (const { id, account, key } of orders.slice(half))
    expect((await found('assign', id, '--account', account, '--unconfirmed', '--key', key)).exitCode).toBe(0)
  expect((await found('unassign', lost.id)).exitCode).toBe(0)
  await gateway.followRestores()
  await create(lost)
  await get(lost)
  expect((await found('assign', lost.id, '--account', lost.account, '--unconfirmed', '--key', lost.key)).exitCode).toBe(0)
  await gateway.followRestores()

  phase = 'after'
  expect((await rig.swapgate('ledger', 'mark-restored', '--webhooks')).exitCode).toBe(0)
  for (const order of orders) await create(order)
  advance('success', () => true)
  for (const order of orders) await get(order)
  await deliver()
  for (const stream of streams)
    await expect
      .poll(() => told(stream).filter(({ data }) => (data as { status: string }).status === 'success').length)
      .toBe(orders.filter(({ account }) => account === stream.account).length)
  expect(streams.map(({ source }) => source.events[0]?.event)).toEqual(accounts.map(() => 'gap'))
  hangUp()
  expect(rig.alpha.received('create')).toHaveLength(created)
  expect(created).toBe(swapCount)

  const comparing = spawn(process.execPath, [join(import.meta.dirname, 'compare.ts')], { stdio: ['pipe', 'pipe', 'inherit'] })
  comparing.stdin.end(journal.map((seen) => JSON.stringify(seen)).join('\n'))
  const [said, [exitCode]] = await Promise.all([text(comparing.stdout), once(comparing, 'close')])
  expect([said, exitCode]).toEqual([`${swapCount} swaps compared, 0 contradictions\n`, 0])
})
