// Takes long: outages last.
/** A ledger that cannot be written or read, with a gateway in its own process. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canForbid, canMount, corrupt, fill, forbid, type Heal, lock, mount } from '../support/broken-ledger.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type LedgerRig, startLedgerRig } from '../support/ledger-rig.ts'

const quotes = [
  '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=1',
  '/b/api/v2/rate?coinFrom=XRP&coinTo=BTC&amount=1',
  '/a/api/v2/currencies',
]

const create = async (rig: LedgerRig, idempotencyKey?: string): Promise<ReceivedResponse> =>
  (await rig.customer.create(
    rig.gateway.url,
    rig.order(),
    idempotencyKey === undefined ? {} : { idempotencyKey },
  )) as ReceivedResponse
const get = async (rig: LedgerRig, id: string): Promise<ReceivedResponse> =>
  (await rig.customer.get(rig.gateway.url, id)) as ReceivedResponse
const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id

/** Processes start slowly on a busy machine. */
const timeout = 60_000
let scenarios = 0

/** Creates are refused before a call; quotes continue at once; the process lives. */
async function expectRefusals(rig: LedgerRig): Promise<void> {
  const before = rig.received()
  scenarios++
  const creating = Promise.all([create(rig), create(rig), create(rig, `order-${scenarios}`)])
  const started = performance.now()
  for (const path of quotes) expect((await sendRequest(rig.gateway.url, { path })).status, path).toBe(200)
  expect((await sendRequest(rig.adminUrl, { path: '/livez' })).status).toBe(200)
  expect(performance.now() - started).toBeLessThan(2_500)
  for (const refused of await creating) {
    expectRefusal(refused, 'A', 503)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  }
  expect(rig.received()).toBe(before)
}

/** As if nothing had been. */
async function expectWell(rig: LedgerRig, id: string): Promise<void> {
  const made = await create(rig, `order-${scenarios}`)
  expect(made.status, made.text).toBe(201)
  expect((await create(rig, `other-${scenarios}`)).status).toBe(201)
  expect((await get(rig, id)).status).toBe(200)
  const { json } = (await rig.customer.list(rig.gateway.url)) as ReceivedResponse
  expect((json as { data: readonly { id: string }[] }).data.map((row) => row.id)).toEqual(expect.arrayContaining([id, idOf(made)]))
  expect(await rig.gateway.command('ledger', 'unknown')).toEqual([])
  expect(await rig.violations()).toEqual([])
}

/** What a ledger in trouble means, and what is left of it afterwards. */
async function expectTrouble(rig: LedgerRig, spoil: (directory: string) => Heal): Promise<void> {
  const id = idOf(await create(rig))
  const heal = spoil(rig.directory)
  try {
    const reading = performance.now()
    const [read, listed] = await Promise.all([get(rig, id), rig.customer.list(rig.gateway.url)])
    expect([200, 503]).toContain(read.status)
    expect([200, 503]).toContain(listed?.status)
    expect(performance.now() - reading).toBeLessThan(2_500)
    await expectRefusals(rig)
  } finally {
    heal()
  }
  await expectWell(rig, id)
}

const rootOnly = (isPossible: boolean): string => (isPossible ? '' : ' (left out: only root can bring it about)')

describe('L15: creates are refused, reads and quotes go on, and all is well as soon as the ledger is', { timeout }, () => {
  let rig: LedgerRig
  beforeAll(async () => {
    rig = await startLedgerRig()
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  test('locked by another process', () => expectTrouble(rig, lock))

  test.runIf(canForbid)(`read-only${rootOnly(canForbid)}`, () => expectTrouble(rig, forbid))

  test('a damaged page: what lies there is 503, and the process lives', async () => {
    const id = idOf(await create(rig))
    await rig.gateway.stop()
    const heal = corrupt(rig.directory)
    await rig.gateway.start()
    expectRefusal(await get(rig, id), 'A', 503)
    expectRefusal((await rig.customer.list(rig.gateway.url)) as ReceivedResponse, 'A', 503)
    await expectRefusals(rig)
    await rig.gateway.stop()
    heal()
    await rig.gateway.start()
    await expectWell(rig, id)
  })
})

test.runIf(canMount)(`L15: so it is on a full disk${rootOnly(canMount)}`, { timeout }, async () => {
  await using rig = await startLedgerRig({ prepare: (directory) => mount(directory, '2m') })
  await expectTrouble(rig, fill)
})
