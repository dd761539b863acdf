// Takes long: each report at each moment of a create.
/** docs/contract-operators.md §10.3 in passthrough mode: a transaction that its client has read while its create was in flight. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { swap } from '../support/swaps.ts'
import { type Creating, listedStatusOf, made, startCreating, statusOf, wrong } from './creating.ts'

let rig: Creating
/** Reports are written to the ledger when it is resolved. */
let mayWrite: PromiseWithResolvers<void>
beforeEach(() => {
  mayWrite = Promise.withResolvers<void>()
})
afterEach(async () => {
  mayWrite.resolve()
  await rig.place[Symbol.asyncDispose]()
})

const slowWrites = (own: Ledger): Ledger => ({
  ...own,
  async upsert(...args) {
    await mayWrite.promise
    return await own.upsert(...args)
  },
})
const others = [1, 2, 3, 4].map((number) => swap({ id: `other-${number}`, createdAt: '2026-03-02T10:00:00.000Z' }))
const areOthersStored = async (): Promise<boolean> => {
  const entries = await Array.fromAsync(rig.place.gateway.ledgerAdmin.export())
  return others.every(({ id }) => entries.some(({ transaction }) => transaction.id === id))
}

const expectKnownState = async (): Promise<void> => {
  rig.report(wrong)
  const response = await rig.get()
  expect(response.json).toMatchObject({ withdrawalAddress: made.withdrawalAddress, status: 'wait' })
  expect(response.headers['x-swap-stale']).toMatch(/^\d$/)
  const rows = await rig.list()
  expect(rows.text).not.toContain('thief')
  const { data } = rows.json as { data: readonly { id: string }[] }
  for (const row of [response.json, data.find(({ id }) => id === rig.id)]) expect(row).not.toHaveProperty('depositAddress')
}

describe.each(['alpha', 'beta'] as const)('%s', (name) => {
  describe.each(['this process', 'another process'])('created by %s', (where) => {
    const creator = async () => (where === 'this process' ? rig.place.gateway : await rig.place.second())

    test.each([
      ['listed it', made, () => rig.list()],
      ['read it', made, () => rig.get()],
      ['listed it with other facts', wrong, () => rig.list()],
      ['read it with other facts', wrong, () => rig.get()],
    ])('L40: later reports are compared with the create, although its client %s before', async (_, facts, read) => {
      rig = await startCreating(name, slowWrites)
      const answerCreate = await rig.startCreate(await creator())
      rig.report(facts)
      await read()
      await answerCreate()
      await expectKnownState()
      rig.report(made)
      expect((await rig.get()).json).toMatchObject({ depositAddress: made.depositAddress })
      await expectKnownState()
      mayWrite.resolve()
      await expectKnownState()
      expect(await rig.entry()).toMatchObject({ isCreated: true, transaction: { depositAddress: made.depositAddress } })
    })

    test('L40: a report from before the create that is still to be written does not change the ledger', async () => {
      rig = await startCreating(name, slowWrites)
      rig.provider.holdings.swaps = others
      const answerCreate = await rig.startCreate(await creator())
      rig.report(wrong)
      expect((await rig.list()).text).toContain(rig.id)
      await answerCreate()
      await expectKnownState()
      mayWrite.resolve()
      await expect.poll(areOthersStored).toBe(true)
      expect(await rig.entry()).toMatchObject({ isCreated: true, transaction: { depositAddress: made.depositAddress } })
      await expectKnownState()
    })
  })

  test.each([
    ['success', 'exchanging'],
    ['exchanging', 'confirmation'],
  ])('L38: %s from a list that was read before the create stays, for a late get and in the ledger', async (status, earlier) => {
    rig = await startCreating(name, slowWrites)
    rig.provider.holdings.swaps = others
    await rig.list()
    const answerCreate = await rig.startCreate()
    const [held] = rig.holdGets({ ...made, status: earlier })
    const late = rig.get()
    await held?.received
    rig.report({ ...made, status })
    expect(listedStatusOf(await rig.list())).toBe(status)
    await answerCreate()
    await delay(120)
    held?.send()
    expect(statusOf(await late)).toBe(status)
    mayWrite.resolve()
    await expect.poll(async () => (await rig.entry())?.transaction.status).toBe(status)
  })

  test.each(['its client', 'another key'])(
    'L40: the status of a report with other facts, to %s, is not that of the create',
    async (who) => {
      rig = await startCreating(name)
      const reader = who === 'its client' ? undefined : await rig.place.gateway.freshKey()
      const answerCreate = await rig.startCreate()
      rig.report({ ...wrong, status: 'success' })
      await rig.get(rig.place.gateway, rig.id, reader)
      await expect.poll(rig.entry).toMatchObject({ isCreated: false, transaction: { status: 'success' } })
      await answerCreate()
      expect(await rig.entry()).toMatchObject({ isCreated: true, transaction: { status: 'wait' } })
      rig.report(made)
      expect((await rig.get()).json).toMatchObject({ depositAddress: made.depositAddress, status: 'wait' })
    },
  )

  test('L40: neither an old read nor the slow reply to an old write takes the create’s place', async () => {
    const mayReply = Promise.withResolvers<void>()
    let isFailing = false
    rig = await startCreating(name, (own) => ({
      ...own,
      async upsert(...args) {
        const stored = await own.upsert(...args)
        await mayReply.promise
        return stored
      },
      async find(...args) {
        if (isFailing) throw new Error('the ledger is away')
        return await own.find(...args)
      },
    }))
    const answerCreate = await rig.startCreate()
    rig.report(made)
    await rig.get()
    await expect.poll(rig.entry).toMatchObject({ isCreated: false })
    await answerCreate()
    await rig.get()
    mayReply.resolve()
    await delay(0)
    isFailing = true
    rig.report(made)
    expect((await rig.get()).json).toMatchObject({ depositAddress: made.depositAddress })
    rig.report(wrong)
    expect((await rig.get()).status).toBe(503)
  })
})
