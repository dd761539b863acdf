/** Row L15: a ledger that cannot be written or read, under a gateway in a process of its own. */
import { afterEach, describe, expect, test } from 'vitest'
import { canForbid, canMount, corrupt, fill, forbid, type Heal, lock, mount } from '../support/broken-ledger.ts'
import { type Answered, ask } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type LedgerRig, startLedgerRig } from '../support/ledger-rig.ts'

let rig: LedgerRig
afterEach(() => rig[Symbol.asyncDispose]())

const quotes = [
  '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=1',
  '/b/api/v2/rate?coinFrom=XRP&coinTo=BTC&amount=1',
  '/a/api/v2/currencies',
]

const create = async (idempotencyKey?: string): Promise<Answered> =>
  (await rig.customer.create(rig.gateway.url, rig.order(), idempotencyKey === undefined ? {} : { idempotencyKey })) as Answered
const get = async (id: string): Promise<Answered> => (await rig.customer.get(rig.gateway.url, id)) as Answered
const idOf = ({ json }: Answered): string => (json as { id: string }).id

/** Creates are refused before anybody is asked; quotes go on at once; the process lives. */
async function expectRefusals(): Promise<void> {
  const before = rig.received()
  const creating = Promise.all([create(), create(), create('order-15')])
  const started = performance.now()
  for (const path of quotes) expect((await ask(rig.gateway.url, { path })).status, path).toBe(200)
  expect((await ask(rig.adminUrl, { path: '/livez' })).status).toBe(200)
  expect(performance.now() - started).toBeLessThan(1_000)
  for (const refused of await creating) {
    expectRefusal(refused, 'A', 503)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  }
  expect(rig.received()).toBe(before)
}

/** As if nothing had been. */
async function expectWell(id: string): Promise<void> {
  const made = await create('order-15')
  expect(made.status, made.text).toBe(201)
  expect((await create('order-16')).status).toBe(201)
  expect((await get(id)).status).toBe(200)
  const { json } = (await rig.customer.list(rig.gateway.url)) as Answered
  expect((json as { data: readonly { id: string }[] }).data.map((row) => row.id)).toEqual(expect.arrayContaining([id, idOf(made)]))
  expect(await rig.gateway.command('ledger', 'unknown')).toEqual([])
}

const faults: readonly [string, boolean, (directory: string) => Heal, ((directory: string) => Heal)?][] = [
  ['locked by another process', true, lock],
  [`read-only${canForbid ? '' : ' (left out: only root can make it so)'}`, canForbid, forbid],
  [
    `on a full disk${canMount ? '' : ' (left out: only root can mount one)'}`,
    canMount,
    fill,
    (directory) => mount(directory, '2m'),
  ],
]

describe.each(faults)('L15: a ledger that is %s', (_, isPossible, spoil, prepare) => {
  test.runIf(isPossible)('refuses creates, and recovers by itself; reads and quotes go on', async () => {
    rig = await startLedgerRig(prepare && { prepare })
    const id = idOf(await create())
    const heal = spoil(rig.directory)
    try {
      const reading = performance.now()
      const [read, listed] = await Promise.all([get(id), rig.customer.list(rig.gateway.url)])
      expect([200, 503]).toContain(read.status)
      expect([200, 503]).toContain(listed?.status)
      expect(performance.now() - reading).toBeLessThan(2_500)
      await expectRefusals()
    } finally {
      heal()
    }
    await expectWell(id)
  })
})

test('L15: a ledger with a damaged page answers 503 for what lies there, and the process lives', async () => {
  rig = await startLedgerRig()
  const id = idOf(await create())
  await rig.gateway.stop()
  const heal = corrupt(rig.directory)
  await rig.gateway.start()
  expectRefusal(await get(id), 'A', 503)
  expectRefusal((await rig.customer.list(rig.gateway.url)) as Answered, 'A', 503)
  await expectRefusals()
  await rig.gateway.stop()
  heal()
  await rig.gateway.start()
  await expectWell(id)
})
