/** docs/contract-operators.md §10.3 in passthrough mode: reads that overlap, with a ledger that is slow or fails, in one process and in two. */
import { afterEach, describe, expect, test } from 'vitest'
import type { LedgerEntry } from '../../src/core/ports/ledger.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { passSteadyTime } from '../support/steady-clock.ts'
import { swap } from '../support/swaps.ts'
import { type Creating, listedStatusOf, made, startCreating, statusOf, wrong } from './creating.ts'

let rig: Creating
afterEach(() => rig.place[Symbol.asyncDispose]())

const create = async (): Promise<void> => await (await rig.startCreate())()
const isStored = async (status: string): Promise<void> =>
  expect.poll(async () => (await rig.entry())?.transaction.status, { interval: 5 }).toBe(status)

test('L38: a list that waits for the details of another row does not undo a get that was sent later', async () => {
  rig = await startCreating('beta')
  await create()
  const other = swap({ id: 'other-1' })
  rig.provider.holdings.swaps = [...rig.provider.holdings.swaps, other]
  const rows = rig.holdList({ ...made, status: 'wait' }, other)
  const [details, later] = rig.holdGets(other, { ...made, status: 'success' })
  const list = rig.list()
  await rows.received
  rows.send()
  await details?.received
  const getting = rig.get()
  await later?.received
  later?.send()
  expect(statusOf(await getting)).toBe('success')
  await isStored('success')
  details?.send()
  expect(listedStatusOf(await list)).toBe('success')
})

/** The provider contradicts the create: the last known state, with nothing to pay to. */
const expectNoDeposit = ({ headers, json, text }: ReceivedResponse): void => {
  expect(headers).toHaveProperty('x-swap-stale')
  expect(json).toMatchObject({ withdrawalAddress: made.withdrawalAddress })
  expect(text).not.toContain('depositAddress')
}

describe.each(['alpha', 'beta'] as const)('%s', (name) => {
  test('L38: a slow read of the ledger does not undo what was stored meanwhile', async () => {
    let held: PromiseWithResolvers<void> | undefined
    rig = await startCreating(name, (own) => ({
      ...own,
      async find(...args): Promise<LedgerEntry | undefined> {
        const found = await own.find(...args)
        const wait = held
        held = undefined
        await wait?.promise
        return found
      },
    }))
    await create()
    const [first, second] = rig.holdGets({ ...made, status: 'exchanging' }, { ...made, status: 'success' })
    const slow = rig.get()
    await first?.received
    const fast = rig.get()
    await second?.received
    const release = Promise.withResolvers<void>()
    held = release
    first?.send()
    await expect.poll(() => held).toBeUndefined()
    second?.send()
    expect(statusOf(await fast)).toBe('success')
    await isStored('success')
    release.resolve()
    expect(statusOf(await slow)).toBe('success')
  })

  test('L40: a read of the ledger from before the create, and slower than the one after it, does not count', async () => {
    const reads: (() => void)[] = []
    rig = await startCreating(name, (own) => ({
      ...own,
      async find(...args) {
        const found = await own.find(...args)
        if (reads.length < 2) await new Promise<void>((resolve) => reads.push(resolve))
        return found
      },
    }))
    const answerCreate = await rig.startCreate()
    const early = rig.get()
    await expect.poll(() => reads).toHaveLength(1)
    await answerCreate()
    rig.report(wrong)
    const late = rig.get()
    await expect.poll(() => reads).toHaveLength(2)
    reads[1]?.()
    reads[0]?.()
    await early
    expectNoDeposit(await late)
  })

  test('L40: a read of the ledger that fails is none: the next get reads it', async () => {
    const written = Promise.withResolvers<void>()
    let failures = 0
    rig = await startCreating(name, (own) => ({
      ...own,
      async find(...args) {
        if (failures-- > 0) throw new Error('the ledger is away')
        return await own.find(...args)
      },
      async upsert(...args) {
        await written.promise
        return await own.upsert(...args)
      },
    }))
    await create()
    failures = 1
    const [first, second] = rig.holdGets(made, wrong)
    const early = rig.get()
    await first?.received
    const late = rig.get()
    await second?.received
    first?.send()
    await early
    second?.send()
    expectNoDeposit(await late)
    written.resolve()
  })

  test('L38: success stays although it could not be written, for a provider that goes back', async () => {
    rig = await startCreating(name, (own) => ({ ...own, upsert: () => Promise.reject(new Error('the disk is full')) }))
    await create()
    for (const status of ['success', 'exchanging']) {
      rig.report({ ...made, status })
      expect(statusOf(await rig.get())).toBe('success')
    }
  })

  test.each(['fail', 'are slow'])('L38: success of another process counts although the writes of this one %s', async (how) => {
    const written = Promise.withResolvers<void>()
    if (how === 'fail') written.reject(new Error('the disk is full'))
    written.promise.catch(() => {})
    rig = await startCreating(name, (own, index) => ({
      ...own,
      async upsert(...args) {
        if (index === 0) await written.promise
        return await own.upsert(...args)
      },
    }))
    const second = await rig.place.second()
    await create()
    const [first, later] = rig.holdGets({ ...made, status: 'confirmation' }, { ...made, status: 'exchanging' })
    const slow = rig.get()
    await first?.received
    const fast = rig.get()
    await later?.received
    later?.send()
    expect(statusOf(await fast)).toBe('exchanging')
    rig.report({ ...made, status: 'success' })
    expect(statusOf(await rig.get(second))).toBe('success')
    await isStored('success')
    passSteadyTime(120)
    first?.send()
    expect(statusOf(await slow)).toBe('success')
    written.resolve()
  })

  test('L40: a create of another process counts for the next get, however often this one has read the transaction', async () => {
    rig = await startCreating(name)
    const answerCreate = await rig.startCreate(await rig.place.second())
    rig.report(wrong)
    for (let reads = 0; reads < 4; reads++) expect((await rig.get()).json).toMatchObject({ depositAddress: 'bc1q-thief' })
    await isStored('wait')
    for (let reads = 0; reads < 4; reads++) await rig.get()
    await answerCreate()
    expectNoDeposit(await rig.get())
  })

  test('L38: success of another process counts for a report with the status that this one has returned last', async () => {
    rig = await startCreating(name)
    const second = await rig.place.second()
    await create()
    expect(statusOf(await rig.get())).toBe('wait')
    rig.report({ ...made, status: 'success' })
    expect(statusOf(await rig.get(second))).toBe('success')
    await isStored('success')
    rig.report(made)
    expect(statusOf(await rig.get())).toBe('success')
  })
})
