/** Who learns what becomes of creates and swaps, and in which order. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Suspensions } from '../../src/core/creation/suspensions.ts'
import { CreatesInFlight, Journal } from '../../src/core/journal.ts'
import { Timelines } from '../../src/core/timelines.ts'
import type { Observer } from '../../src/domain/observation.ts'
import { transactionA } from '../support/form-a.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses } from '../support/outcomes.ts'
import { swap } from '../support/swaps.ts'

interface Listening {
  readonly listen: (journal: Journal, observe: Observer) => void
}

let told: string[] = []
let managed: Managed
let key: string

beforeAll(async () => {
  let listening = ''
  const { on } = Journal.prototype
  vi.spyOn(Journal.prototype, 'on').mockImplementation(function (this: Journal, name, listener) {
    const who = listening
    on.call(this, name, (...facts: readonly unknown[]) => {
      told.push(`${who}: ${name}`)
      ;(listener as (...facts: readonly unknown[]) => void)(...facts)
    })
  })
  const all: readonly Listening[] = [CreatesInFlight.prototype, Timelines.prototype, Suspensions.prototype]
  for (const listener of all) {
    const { listen } = listener
    vi.spyOn(listener, 'listen').mockImplementation(function (this: Listening, journal, observe) {
      listening = this.constructor.name
      listen.call(this, journal, observe)
    })
  }
  managed = await startManaged({ sections: { auth: { mode: 'managed' }, ledger: { refreshAfter: 0 } } })
  key = await managed.issue()
})
afterAll(async () => {
  await managed.close()
  vi.restoreAllMocks()
})

const create = () => managed.client('A').post('/transactions', orderIn('A'), { key })
async function listenersOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  told = []
  await work()
  return told
}

test('of a create that is done, and of a later state', async () => {
  expect(await listenersOf(create)).toEqual([
    'CreatesInFlight: begun',
    'CreatesInFlight: ended',
    'Timelines: done',
    'Suspensions: done',
  ])
  const [made] = managed.alpha.holdings.swaps
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((known) => ({ ...known, status: 'exchanging' }))
  const read = () => managed.client('A').get(`/transactions/alpha~${made?.id}`, { key })
  expect(await listenersOf(read)).toEqual(['Timelines: changed'])
})

test('of a create whose response is lost, and that is found', async () => {
  loseResponses(managed.alpha)
  expect(await listenersOf(create)).toEqual(['CreatesInFlight: begun', 'CreatesInFlight: ended', 'Timelines: unknown'])
  expect(await listenersOf(() => lookNow(managed.gateway))).toEqual(['CreatesInFlight: ended', 'Timelines: found'])
})

test('of a create whose response contradicts the request', async () => {
  const json = transactionA(swap({ id: 'other-1', amountIn: digits('0.09'), withdrawalAddress: 'TOther' }))
  managed.alpha.reply('create', { status: 201, json })
  expect(await listenersOf(create)).toEqual([
    'CreatesInFlight: begun',
    'CreatesInFlight: ended',
    'Timelines: mismatched',
    'Suspensions: mismatched',
  ])
})

test('of a create that the provider refuses', async () => {
  managed.alpha.reply('create', { status: 400, json: { error: 'no' } })
  expect(await listenersOf(create)).toEqual(['CreatesInFlight: begun', 'CreatesInFlight: ended'])
})
