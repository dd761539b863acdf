/** `kill -9` at each step of a create, and what the next process makes of it. The checks use the provider's journal. */
import { connect } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import type { Order } from '../checker/order.ts'
import { lock } from '../support/broken-ledger.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type LedgerRig, startLedgerRig } from '../support/ledger-rig.ts'
import { canTrace, killAtFlush } from '../support/strace.ts'

/** Processes start slowly on a busy machine. */
const timeout = 60_000
let rig: LedgerRig
/** What the commands report of the ledger while the gateway runs. */
let operator: OpenLedger
beforeAll(async () => {
  rig = await startLedgerRig()
  operator = await openLedger(`sqlite:${rig.file}`)
}, timeout)
afterAll(async () => {
  await operator.close()
  await rig[Symbol.asyncDispose]()
})

interface Step {
  readonly order: Order
  readonly idempotencyKey: string
}
let steps = 0
const step = (): Step => ({ order: rig.order(), idempotencyKey: `step-${++steps}` })
const create = ({ order, idempotencyKey }: Step): Promise<ReceivedResponse | undefined> =>
  rig.customer.create(rig.gateway.url, order, { idempotencyKey })
const appliedTo = ({ order }: Step): readonly string[] =>
  rig
    .journal()
    .filter((entry) => entry.what === 'applied')
    .filter(({ swap }) => swap.withdrawalAddress === order.withdrawalAddress)
    .map(({ swap }) => `alpha~${swap.id}`)
const receivedOf = ({ order }: Step): number =>
  rig.journal().filter((entry) => entry.what === 'received' && entry.body.includes(order.withdrawalAddress)).length

const unresolved = (): ReturnType<OpenLedger['ledgerAdmin']['unresolved']> => operator.ledgerAdmin.unresolved()

/** When all of them are to be looked for. */
function checkAt(time: number): void {
  const database = new DatabaseSync(rig.file, { timeout: 2_000 })
  database.exec(`UPDATE transactions SET next_check_at = ${time} WHERE next_check_at IS NOT NULL`)
  database.close()
}
const checkNow = (): void => checkAt(1)
const checkLater = (): void => checkAt(Date.now() + 3_600_000)

async function expectSound(): Promise<void> {
  expect(await rig.violations()).toEqual([])
}

/** Found, and returned under its key; it was created once. */
async function expectFound(lost: Step): Promise<void> {
  const [id] = appliedTo(lost)
  await expect.poll(async () => (await create(lost))?.status, { interval: 100 }).toBe(201)
  const response = (await create(lost)) as ReceivedResponse
  expect(response.json).toMatchObject({ id })
  expect(response.headers['idempotent-replayed']).toBe('true')
  expect(appliedTo(lost)).toEqual([id])
  expect(receivedOf(lost)).toBe(1)
}

describe('L13: kill -9', { timeout }, () => {
  let half: Step
  let sent: Step
  let applied: Step
  let responded: Step
  let recorded: { readonly step: Step; readonly text: string }

  test('strikes creates at five steps at once', async () => {
    half = step()
    sent = step()
    applied = step()
    responded = step()
    const first = step()
    // 503 as long as the provider's list of networks is awaited.
    const created: (ReceivedResponse | undefined)[] = []
    await expect.poll(async () => created[created.push(await create(first)) - 1]?.status).toBe(201)
    recorded = { step: first, text: created.at(-1)?.text ?? '' }
    const socket = connect(Number(new URL(rig.gateway.url).port), '127.0.0.1').on('error', () => {})
    socket.write(`POST /a/api/v2/transactions HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${rig.customer.key}\r\n`)
    socket.write(`Idempotency-Key: ${half.idempotencyKey}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{`)
    const faults = [
      [sent, { before: 'hang' }],
      [applied, { after: 'hang' }],
      [responded, { held: true }],
    ] as const
    const running = faults.map(async ([lost, fault]) => {
      await rig.provider.fault({ ...fault, having: lost.order.withdrawalAddress })
      return create(lost)
    })
    await expect.poll(() => faults.map(([lost]) => receivedOf(lost))).toEqual([1, 1, 1])
    const unlock = lock(rig.directory)
    await rig.provider.heal()
    const ofResponded = rig
      .journal()
      .filter((entry) => entry.what === 'received')
      .find(({ body }) => body.includes(responded.order.withdrawalAddress))
    const isResponded = (): boolean =>
      rig.journal().some((entry) => entry.what === 'responded' && entry.request === ofResponded?.request)
    await expect.poll(isResponded).toBe(true)
    await rig.gateway.kill()
    unlock()
    for (const response of await Promise.all(running)) expect(response).toBeUndefined()
    checkLater()
    await rig.gateway.start()
  })

  test('before the intent: nothing is known, and the key is free', async () => {
    const response = await create(half)
    expect(response?.status, response?.text).toBe(201)
    expect(response?.headers).not.toHaveProperty('idempotent-replayed')
  })

  test('after it: the outcome is unknown, and the key waits', async () => {
    const withoutOutcome = expect.stringMatching(/^(pending|unknown)$/) // pending unless the machine was slow
    expect((await unresolved()).map(({ state }) => state)).toEqual([withoutOutcome, withoutOutcome, withoutOutcome])
    for (const lost of [sent, applied, responded]) expectRefusal((await create(lost)) as ReceivedResponse, 'A', 409)
    await expectSound()
  })

  test('after the effect, and after the provider’s response: it is found, and returned under its key', async () => {
    checkNow()
    await expectFound(applied)
    await expectFound(responded)
    await expectSound()
  })

  test('after the send without an effect: the key waits until an operator resolves it with --none', async () => {
    expectRefusal((await create(sent)) as ReceivedResponse, 'A', 409)
    const [open, ...others] = await unresolved()
    expect(others).toEqual([])
    await rig.provider.heal()
    expect(await operator.ledgerAdmin.markNotCreated(open?.intent ?? '', 'tester')).toBe(true)
    expect((await create(sent))?.status).toBe(201)
    expect(appliedTo(sent)).toHaveLength(1)
  })

  test('after the response to the client: it is returned again, byte for byte', async () => {
    const again = await create(recorded.step)
    expect(again?.text).toBe(recorded.text)
    expect(again?.headers['idempotent-replayed']).toBe('true')
    await expectSound()
  })
})

const without = canTrace ? '' : ' (left out: strace is not here, or may not trace)'

describe(`L13: kill -9 at a flush${without}`, { timeout }, () => {
  test.runIf(canTrace)('of the intent: nothing was sent', async () => {
    const lost = step()
    await killAtFlush(rig.directory)
    expect(await create(lost)).toBeUndefined()
    await rig.gateway.kill()
    await rig.gateway.start()
    expect(receivedOf(lost)).toBe(0)
    const open = (await unresolved()).filter(({ requested }) => requested.withdrawalAddress === lost.order.withdrawalAddress)
    for (const { intent } of open) await operator.ledgerAdmin.markNotCreated(intent, 'tester')
    expect((await create(lost))?.status).toBe(201)
    await expectSound()
  })

  test.runIf(canTrace)('of the result: it is there, or found, and returned under its key', async () => {
    const lost = step()
    // The gateway stands still until the kill is set: so that no flush of before the result counts.
    await rig.provider.fault({ held: true, having: lost.order.withdrawalAddress })
    const response = create(lost)
    await expect.poll(() => appliedTo(lost)).toHaveLength(1)
    rig.gateway.freeze()
    await killAtFlush(rig.directory)
    await rig.provider.heal()
    rig.gateway.thaw()
    expect(await response).toBeUndefined()
    await rig.gateway.kill()
    await rig.gateway.start()
    expect(appliedTo(lost)).toHaveLength(1)
    checkNow()
    await expectFound(lost)
    await expectSound()
  })
})
