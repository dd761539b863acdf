/** docs/contract.md §3.11: an action is sent once, whatever fails, and what became of it is looked for. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { NewSwapAction, SwapActionStore } from '../../src/core/ports/swap-actions.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type ActionRig, refundAddress, startActions } from './rig.ts'

let rig: ActionRig
afterEach(async () => {
  vi.useRealTimers()
  await rig[Symbol.asyncDispose]()
})

async function held(provider: 'changenow' | 'sideshift' = 'changenow', settings: object = {}): Promise<string> {
  rig = await startActions(provider, settings)
  const id = await rig.begin()
  Object.assign(rig.swap(), provider === 'changenow' ? { status: 'verifying', hasActions: true } : { status: 'refund' })
  return id
}

/** Looks as often as it is due within this time. */
async function lookFor(ms: number): Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  await rig.gateway.reconcile()
}

const outcomes = () =>
  rig.gateway.observations.flatMap((observation) => (observation.what === 'action' ? [observation.outcome] : []))
const stored = async () => (await rig.gateway.swapActions.readActions('alpha', rig.swap().id)) ?? []

test('of many requests at once one is sent', async () => {
  const id = await held()
  rig.exchange.delays.refund = 100
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      rig.act(number % 2 ? 'A' : 'B', id, number % 3 ? 'refund' : 'continue', number % 3 ? { address: refundAddress } : {}),
    ),
  )
  const sent = rig.sent('refund', 'continue')
  expect(sent).toHaveLength(1)
  expect(all.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
  for (const { status, headers } of all.filter(({ status }) => status !== 200))
    expect([status, headers['x-swap-reason']]).toEqual([409, expect.stringMatching(/^(?:conflict|in_progress)$/)])
})

describe.each(['before', 'after'] as const)('a connection that breaks %s the provider has carried it out', (when) => {
  test('leaves an unknown outcome: a repeat sends nothing, and a look finds it', async () => {
    const id = await held('sideshift')
    rig.exchange.losesNextAction = when
    const body = { address: refundAddress }
    const lost = await rig.act('A', id, 'refund-address', body)
    expectRefusal(lost, 'A', 504, 'outcome_unknown')
    expect(Number(lost.headers['retry-after'])).toBeGreaterThan(4)
    expectRefusal(await rig.act('A', id, 'refund-address', body), 'A', 409, 'in_progress')
    expectRefusal(
      await rig.act('A', id, 'refund-address', { address: '0xde709f2102306220921060314715629080e2fb77' }),
      'A',
      409,
      'conflict',
    )
    await lookFor(6_000)
    expect(outcomes()).toEqual(when === 'after' ? ['unknown', 'found'] : ['unknown'])
    if (when === 'before') rig.swap().refund = refundAddress
    await lookFor(60_000)
    const done = await rig.act('A', id, 'refund-address', body)
    expect([done.status, done.headers['idempotent-replayed']], done.text).toEqual([200, 'true'])
    expect(rig.sent('refundAddress')).toHaveLength(1)
    expect(outcomes()).toEqual(['unknown', 'found'])
  })
})

test('a refund that is lost while its provider waits for an address is found by that name, and repeated for ever', async () => {
  const id = await held('sideshift')
  rig.exchange.losesNextAction = 'after'
  const refund = (address = refundAddress) => rig.act('A', id, 'refund', { address })
  expectRefusal(await refund(), 'A', 504, 'outcome_unknown')
  expectRefusal(await refund(), 'A', 409, 'in_progress')
  expectRefusal(await refund('0xde709f2102306220921060314715629080e2fb77'), 'A', 409, 'conflict')
  expectRefusal(await rig.act('A', id, 'refund-address', { address: refundAddress }), 'A', 409, 'in_progress')
  await lookFor(6_000)
  expect(outcomes()).toEqual(['unknown', 'found'])
  for (const status of ['refunding', 'refunded']) {
    rig.swap().status = status
    const again = await refund()
    expect([again.status, again.headers['idempotent-replayed']], again.text).toEqual([200, 'true'])
  }
  expect(rig.sent('refundAddress', 'refund')).toEqual([{ address: refundAddress }])
})

test('a refund that is lost on its way to a provider that waits for an address stays unknown until its address is there', async () => {
  const id = await held('sideshift')
  rig.exchange.losesNextAction = 'before'
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 504, 'outcome_unknown')
  // Its user sets another address on the provider's page.
  await lookFor(6_000)
  expect(outcomes()).toEqual(['unknown'])
  Object.assign(rig.swap(), { refund: '0xde709f2102306220921060314715629080e2fb77', status: 'refunding' })
  await lookFor(60_000)
  expect([await stored(), outcomes()]).toEqual([[], ['unknown', 'notDone']])
})

test('of a refund and an address at once, with two addresses, one goes up', async () => {
  const id = await held('sideshift')
  rig.exchange.delays.refundAddress = 100
  const other = '0xde709f2102306220921060314715629080e2fb77'
  const all = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      at % 2 ? rig.act('A', id, 'refund', { address: refundAddress }) : rig.act('A', id, 'refund-address', { address: other }),
    ),
  )
  expect(rig.sent('refundAddress', 'refund')).toHaveLength(1)
  expect(all.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
  for (const { status } of all) expect([200, 400, 409]).toContain(status)
})

test.each([500, 502, 503, 408, 409, 425])('a status of %i leaves it unknown', async (status) => {
  const id = await held()
  rig.exchange.tamper = (operation) => (operation === 'refund' ? { status, json: { error: 'x', message: 'y' } } : undefined)
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 504, 'outcome_unknown')
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 409, 'in_progress')
  expectRefusal(await rig.act('A', id, 'continue'), 'A', 409, 'conflict')
  expect(rig.sent('refund', 'continue')).toHaveLength(1)
})

test.each([
  ['result: false', { json: { result: false } }],
  ['no JSON', { text: '<html>' }],
])('a response of success with %s leaves it unknown', async (_, reply) => {
  const id = await held()
  rig.exchange.tamper = (operation) => (operation === 'refund' ? reply : undefined)
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 504, 'outcome_unknown')
})

test('a provider that is slow is not asked again, and a look finds it', async () => {
  const id = await held('changenow', { provider: { timeout: 1 } })
  rig.exchange.delays.refund = 3_000
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 504, 'outcome_unknown')
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 409, 'in_progress')
  await lookFor(8_000)
  expect((await rig.act('A', id, 'refund', { address: refundAddress })).json).toMatchObject({ status: 'refunded' })
  expect(rig.sent('refund')).toHaveLength(1)
})

test('what the provider refuses is not done, and may be asked for again', async () => {
  const id = await held()
  rig.exchange.tamper = (operation) =>
    operation === 'refund' ? { status: 400, json: { error: 'x', message: 'Not now' } } : undefined
  expect(expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 400, 'refused')).toBe('Not now')
  rig.exchange.tamper = () => undefined
  Object.assign(rig.swap(), { status: 'verifying', hasActions: true, refund: undefined })
  expect((await rig.act('A', id, 'continue')).status).toBe(200)
  expect(outcomes()).toEqual(['refused', 'done'])
})

test('a key that may not do it is a failure of the provider, and nothing is done', async () => {
  const id = await held()
  rig.exchange.tamper = (operation) =>
    operation === 'refund' ? { status: 401, json: { error: 'unauthorized', message: 'No' } } : undefined
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 502, 'provider_failed')
  expect(await stored()).toEqual([])
})

test('what a process had claimed when it was killed is looked for, and never sent', async () => {
  const id = await held('sideshift')
  const { id: own } = rig.swap()
  const claim: NewSwapAction = {
    ...{ claim: randomUUID(), provider: 'alpha', id: own, kind: 'refundAddress', action: 'setRefundAddress' },
    ...{ owner: (await ownerOf(id)) ?? '', actor: 'account:acme', audited: {}, refundAddress },
    ...{ claimedAt: Date.now(), nextCheckAt: Date.now() + 15_000 },
  }
  await rig.gateway.swapActions.claimAction(claim)
  expectRefusal(await rig.act('A', id, 'refund-address', { address: refundAddress }), 'A', 409, 'in_progress')
  await lookFor(16_000)
  expect(rig.sent('refundAddress')).toEqual([])
  rig.swap().refund = refundAddress
  await lookFor(60_000)
  expect(await stored()).toMatchObject([{ state: 'done' }])
})

async function ownerOf(id: string): Promise<string | undefined> {
  const found = await rig.gateway.ledgerAdmin.findTransaction('alpha', id.slice('alpha~'.length))
  return found?.entry.owner
}

test('after a day only a person can find out', async () => {
  const id = await held('sideshift')
  rig.exchange.losesNextAction = 'before'
  await rig.act('A', id, 'refund-address', { address: refundAddress })
  for (let hour = 0; hour < 30; hour++) await lookFor(3_700_000)
  expectRefusal(await rig.act('A', id, 'refund-address', { address: refundAddress }), 'A', 409, 'needs_person')
  expect(rig.sent('refundAddress')).toHaveLength(1)
})

test('an order whose deposit came before its cancellation goes on, and may be acted on again', async () => {
  rig = await startActions('sideshift')
  const id = await rig.begin({ body: { refundAddress } })
  rig.exchange.losesNextAction = 'before'
  expectRefusal(await rig.act('A', id, 'refund'), 'A', 504, 'outcome_unknown')
  rig.swap().status = 'processing'
  await lookFor(6_000)
  expect([await stored(), outcomes()]).toEqual([[], ['unknown', 'notDone']])
})

test('nothing is sent while the provider cannot be read, or is wrong about the swap', async () => {
  const id = await held()
  rig.exchange.tamper = (operation) => (operation === 'get' ? { status: 500, json: {} } : undefined)
  const { status } = await rig.act('A', id, 'refund', { address: refundAddress })
  expect(status).toBe(502)
  rig.exchange.tamper = (operation) =>
    operation === 'get' ? { status: 404, json: { error: 'not_found', message: 'x' } } : undefined
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 502, 'provider_failed')
  rig.exchange.tamper = (operation, reply) =>
    operation === 'get'
      ? { json: { ...(reply.json as object), payoutAddress: '0xde709f2102306220921060314715629080e2fb77' } }
      : undefined
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 502, 'mismatch')
  expect([rig.sent('refund'), await stored()]).toEqual([[], []])
})

test('a swap that an operator settles after it was judged is left as it is', async () => {
  let meanwhile = async (): Promise<unknown> => undefined
  const id = await held('changenow', {
    actionsLayer: (own: SwapActionStore): SwapActionStore => ({
      ...own,
      async claimAction(...args) {
        await meanwhile()
        return own.claimAction(...args)
      },
    }),
  })
  const settled = { status: 'refunded', note: 'by hand', at: Date.now() } as const
  meanwhile = () => rig.gateway.ledgerAdmin.settle('alpha', rig.swap().id, settled, 'alice')
  expectRefusal(await rig.act('A', id, 'refund', { address: refundAddress }), 'A', 409, 'conflict')
  expect([rig.sent('refund'), await stored()]).toEqual([[], []])
})

test('a ledger that cannot take the claim sends nothing, and one that cannot take the result leaves it to a look', async () => {
  let fails: 'claimAction' | 'markActionDone' | undefined
  const id = await held('sideshift', {
    actionsLayer: (own: object) =>
      Object.fromEntries(
        Object.entries(own).map(([name, method]) => [
          name,
          (...args: unknown[]) => (name === fails ? Promise.reject(new Error('the ledger is away')) : method(...args)),
        ]),
      ),
  })
  fails = 'claimAction'
  expectRefusal(await rig.act('A', id, 'refund-address', { address: refundAddress }), 'A', 503, 'ledger_unavailable')
  expect(rig.sent('refundAddress')).toEqual([])
  fails = 'markActionDone'
  expectRefusal(await rig.act('A', id, 'refund-address', { address: refundAddress }), 'A', 504, 'outcome_unknown')
  fails = undefined
  await lookFor(6_000)
  expect((await rig.act('A', id, 'refund-address', { address: refundAddress })).headers['idempotent-replayed']).toBe('true')
  expect(rig.sent('refundAddress')).toHaveLength(1)
})

test('it is in the audit log, without the whole address, and on the timeline', async () => {
  const id = await held()
  await rig.act('A', id, 'refund', { address: refundAddress })
  const records = (await rig.gateway.audit.read({})).filter(({ subject }) => subject === id)
  expect(records).toMatchObject([{ actor: 'account:acme', action: 'transaction.refund', after: { refundAddress: '0x5290…9EE7' } }])
  const { entry } = (await rig.gateway.ledgerAdmin.findTransaction('alpha', rig.swap().id)) ?? {}
  expect(entry?.transaction).toMatchObject({ refundAddress, status: 'refunded' })
})

describe('its response has the state of after it', () => {
  /** No get reads the provider for itself. */
  const settings = { sections: { ledger: { refreshAfter: 3_600 } } }
  const address = { address: refundAddress }

  /** As after a process that sent the action and was killed before it read the swap. */
  async function markDone(id: string): Promise<void> {
    const claim: NewSwapAction = {
      ...{ claim: randomUUID(), provider: 'alpha', id: rig.swap().id, kind: 'decision', action: 'refundTransaction' },
      ...{ owner: (await ownerOf(id)) ?? '', actor: 'account:acme', audited: {}, refundAddress },
      ...{ claimedAt: Date.now(), nextCheckAt: Date.now() + 15_000 },
    }
    expect(await rig.gateway.swapActions.claimAction(claim)).toBe(true)
    await rig.gateway.swapActions.markActionDone(claim)
    Object.assign(rig.swap(), { status: 'refunded', refund: refundAddress })
  }

  test('also of a repeat, where the swap was read just before the action', async () => {
    const id = await held('changenow', settings)
    expect(await rig.read('A', id)).toMatchObject({ attention: 'held' })
    await markDone(id)
    const repeated = await rig.act('A', id, 'refund', address)
    expect([repeated.status, repeated.headers['idempotent-replayed']], repeated.text).toEqual([200, 'true'])
    expect(repeated.json).toMatchObject({ status: 'refunded' })
  })

  test('also of a repeat beside a get that was sent before the action', async () => {
    const id = await held('changenow', settings)
    const release = Promise.withResolvers<void>()
    rig.exchange.tamper = (operation, reply) => (operation === 'get' ? { ...reply, after: release.promise } : undefined)
    const earlier = rig.read('A', id)
    await vi.waitUntil(() => rig.exchange.received('get').length > 0, { timeout: eventTimeoutMs })
    rig.exchange.tamper = () => undefined
    await markDone(id)
    const repeated = await rig.act('A', id, 'refund', address)
    release.resolve()
    expect(repeated.json, repeated.text).toMatchObject({ status: 'refunded' })
    expect(await earlier).toMatchObject({ status: 'refunded' })
  })

  test('also of a repeat by an operator', async () => {
    const id = await held('changenow', settings)
    await rig.read('A', id)
    await markDone(id)
    const by = { actor: 'alice', isForced: false, note: 'ticket 7', owner: (await ownerOf(id)) ?? '' }
    expect(await rig.gateway.operatorActions().carryOut('refundTransaction', { id, refundAddress }, by)).toEqual({
      isRepeated: true,
    })
    const { entry } = (await rig.gateway.ledgerAdmin.findTransaction('alpha', rig.swap().id)) ?? {}
    expect(entry?.transaction).toMatchObject({ status: 'refunded' })
  })

  test.each(['the first', 'a repeat'])('or says how old its state is, where the provider cannot be read: %s', async (which) => {
    const id = await held('changenow', settings)
    await rig.read('A', id)
    if (which === 'a repeat') await markDone(id)
    rig.exchange.tamper = (operation) =>
      operation === 'get' && (which === 'a repeat' || rig.sent('refund').length > 0) ? { status: 500, json: {} } : undefined
    const { status, headers, text } = await rig.act('A', id, 'refund', address)
    expect([status, headers['x-swap-stale']], text).toEqual([200, expect.stringMatching(/^\d+$/)])
  })
})

describe('an operator', () => {
  const carryOut = (id: string, isForced = false, address = refundAddress) => {
    const by = { actor: 'alice', isForced, note: 'ticket 7' }
    const act = async () => {
      const owner = (await ownerOf(id)) ?? ''
      await rig.gateway.operatorActions().carryOut('setRefundAddress', { id, refundAddress: address }, { ...by, owner })
    }
    return act()
  }

  test('does what the owner may, once for both', async () => {
    const id = await held('sideshift')
    await carryOut(id)
    expect((await rig.act('A', id, 'refund-address', { address: refundAddress })).headers['idempotent-replayed']).toBe('true')
    await carryOut(id)
    expect(rig.sent('refundAddress')).toHaveLength(1)
    const record = (await rig.gateway.audit.read({})).filter(({ action }) => action === 'transaction.refund_address')
    expect(record).toMatchObject([{ actor: 'alice', after: { refundAddress: '0x5290…9EE7', note: 'ticket 7' } }])
  })

  test('sends an action of unknown outcome again by force, and one that is done never', async () => {
    const id = await held('sideshift')
    rig.exchange.losesNextAction = 'before'
    await rig.act('A', id, 'refund-address', { address: refundAddress })
    await expect(carryOut(id)).rejects.toMatchObject({ kind: 'inProgress', canForce: true })
    await carryOut(id, true)
    expect(rig.sent('refundAddress')).toHaveLength(2)
    await expect(carryOut(id, true, '0xde709f2102306220921060314715629080e2fb77')).rejects.toMatchObject({ kind: 'conflict' })
    expect(rig.sent('refundAddress')).toHaveLength(2)
  })

  test('sends the address of an unknown refund again by force, by either name', async () => {
    const id = await held('sideshift')
    rig.exchange.losesNextAction = 'before'
    await rig.act('A', id, 'refund', { address: refundAddress })
    await expect(carryOut(id)).rejects.toMatchObject({ kind: 'inProgress', canForce: true })
    await carryOut(id, true)
    expect(rig.sent('refundAddress')).toHaveLength(2)
    expect(await stored()).toMatchObject([{ action: 'setRefundAddress', state: 'done' }])
  })

  test('replaces no action that is still being sent', async () => {
    const id = await held('sideshift')
    rig.exchange.delays.refundAddress = 300
    const sending = rig.act('A', id, 'refund-address', { address: refundAddress })
    await vi.waitFor(async () => expect(await stored()).toHaveLength(1), { timeout: eventTimeoutMs })
    await expect(carryOut(id, true)).rejects.toMatchObject({ kind: 'inProgress', canForce: false })
    expect((await sending).status).toBe(200)
    expect(rig.sent('refundAddress')).toHaveLength(1)
    expect(await stored()).toMatchObject([{ state: 'done' }])
  })

  test('sees what can be done about a swap', async () => {
    const id = await held('sideshift')
    const { entry } = (await rig.gateway.ledgerAdmin.findTransaction('alpha', rig.swap().id)) ?? {}
    if (!entry) throw new Error(id)
    expect(await rig.gateway.operatorActions().capabilitiesOf(entry)).toEqual(['refund', 'refund-address'])
    await carryOut(id)
    expect(await rig.gateway.operatorActions().capabilitiesOf(entry)).not.toContain('refund-address')
  })
})
