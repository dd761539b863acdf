/** docs/contract.md §3.6: a deposit address is free again a day after its provider's own expiry. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { expectRefusal } from '../support/expectations.ts'
import { createdStatus, type Rig, startRig } from './rig.ts'

const hourMs = 3_600_000
/** From a create until the provider's own expiry. */
const waitMs = hourMs / 2

let rig: Rig
/** The database's clock goes with that of the test. */
const ledgerLayer = (ledger: Ledger): Ledger => ({
  ...ledger,
  async depositHolder(key) {
    const holder = await ledger.depositHolder(key)
    return holder && { ...holder, now: Date.now() }
  },
})
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }))
afterEach(async () => {
  vi.useRealTimers()
  await rig[Symbol.asyncDispose]()
})

/** Every further create gets the deposit address of the first one. */
const repeatsDeposit = (): void => {
  const text = (json: unknown): string => JSON.stringify(json)
  rig.exchange.tamper = (operation, { json, ...reply }) => {
    const [first] = rig.exchange.swaps
    const last = rig.exchange.swaps.at(-1)
    if (operation !== 'create' || !first || !last) return undefined
    return { ...reply, json: JSON.parse(text(json).replaceAll(last.deposit, first.deposit)) }
  }
}
/** Replaces the provider's own expiry, in its spelling. */
const says = (expiry: unknown): void => {
  rig.exchange.tamper = (operation, { json, ...reply }) =>
    operation === 'create' ? { ...reply, json: { ...(json as object), expired_at: expiry } } : undefined
}
const create = () => rig.create('A', { rateType: 'fixed' })

describe.each(['changelly', 'changenow', 'letsexchange', 'sideshift', 'stealthex'] as const)('%s', (name) => {
  test.each([
    [23, 502],
    [25, createdStatus.A],
  ])('the same deposit address again, %i h after the expiry: %i', async (hours, status) => {
    rig = await startRig(name, { ledgerLayer })
    const first = await create()
    expect([first.status, first.text]).toEqual([createdStatus.A, expect.stringMatching(/"validUntil":"\d{4}-[\d-]+T[\d:.]+Z"/)])
    repeatsDeposit()
    vi.advanceTimersByTime(waitMs + hours * hourMs)
    const second = await create()
    expect(second.status).toBe(status)
    if (status === 502) expectRefusal(second, 'A', 502, 'mismatch')
    expect(rig.drift()).toEqual([])
  })
})

test.each([
  ['no time', 'soon'],
  ['neither text nor number', { at: 'noon' }],
  ['in the past', '2020-01-01T00:00:00Z'],
  ['a year away', Math.floor((Date.now() + 365 * 24 * hourMs) / 1_000)],
])('an expiry that is %s is ignored and counted, and the swap keeps its address for 7 days', async (_, expiry) => {
  rig = await startRig('letsexchange', { ledgerLayer })
  says(expiry)
  expect((await create()).status).toBe(createdStatus.A)
  expect(rig.drift()).toEqual(['validUntil implausible '])
  repeatsDeposit()
  rig.exchange.swaps[0] = { ...rig.exchange.swaps[0], id: 'gone' } as Rig['exchange']['swaps'][number]
  vi.advanceTimersByTime(waitMs + 25 * hourMs)
  expectRefusal(await create(), 'A', 502, 'mismatch')
})

test('an expiry that only a get has counts too', async () => {
  rig = await startRig('letsexchange', { ledgerLayer })
  says(null)
  const { id } = (await create()).json as { readonly id: string }
  expect((await rig.get('A', `/transactions/${id}`)).status).toBe(200)
  repeatsDeposit()
  vi.advanceTimersByTime(waitMs + 25 * hourMs)
  expect((await create()).status).toBe(createdStatus.A)
  expect(rig.exchange.received('get')).toHaveLength(1)
})
