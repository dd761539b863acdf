import { beforeEach, describe, expect, it } from 'vitest'
import { Fault } from '../domain/fault.ts'
import type { Observation } from '../domain/observation.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { NewTransaction } from '../domain/swap.ts'
import { intent } from './intent.ts'
import type { Intent, Ledger } from './ledger.ts'

const now = Date.parse('2026-03-01T10:00:00Z')
const request = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: '0.10' } as unknown as NewTransaction

let begun: Intent[]
let isBegun: boolean
let dropped: string[]
let doubted: [string, number][]
let held: (string | undefined)[]
let observed: Observation[]
let sent: number
let fault: Fault | undefined
beforeEach(() => {
  begun = []
  isBegun = true
  dropped = []
  doubted = []
  held = []
  observed = []
  sent = 0
  fault = undefined
})

/** As far as it is asked here. */
const ledger = {
  begin: async (entry: Intent) => begun.push(entry) > 0 && isBegun,
  drop: async (id: string) => void dropped.push(id),
  doubt: async (id: string, lookAt: number) => void doubted.push([id, lookAt]),
} as unknown as Ledger

const provider = {
  async call() {
    sent++
    if (fault) throw fault
    return { body: { id: 'tx-1' } }
  },
} as unknown as SwapService

const layer = intent({
  ledger,
  provider: 'alpha',
  clock: () => now,
  observe: (observation) => void observed.push(observation),
  keys: { hold: ({ key }) => void held.push(key) },
})

/** With ten seconds left. */
function create(changed: Partial<Context> = {}): Promise<unknown> {
  const caller = { address: '', identity: 'acme', key: 'secret' }
  const context = { requestId: 'r', caller, attempt: 'intent-1', deadline: performance.now() + 10_000, ...changed }
  return layer(provider).call('createTransaction', request, context as Context)
}

it('is in the ledger before the create goes up, with whose it is and what was asked', async () => {
  const pair = { coinFrom: 'BTC', coinTo: 'ETH' }
  await create({ pair: pair as unknown as Context['pair'] & object, claim: { key: 'k', fingerprint: 'f' } })
  expect(begun).toMatchObject([
    { id: 'intent-1', owner: 'acme', provider: 'alpha', attemptedAt: now, asked: { ...request, ...pair }, claim: { key: 'k' } },
  ])
  expect([dropped, doubted, held, observed]).toEqual([[], [], [], []])
})

it('L13: is looked for five seconds after its last moment, should the process not come back', async () => {
  await create()
  const left = (begun[0]?.lookAt ?? 0) - now
  expect(left).toBeGreaterThan(14_000)
  expect(left).toBeLessThanOrEqual(15_001)
})

describe('nothing goes up', () => {
  it('where the key has another create under way', async () => {
    isBegun = false
    await expect(create()).rejects.toMatchObject({ kind: 'inProgress', certain: true })
    expect(sent).toBe(0)
  })

  it.each<[string, Partial<Context>]>([
    ['no id', { attempt: undefined as unknown as string }],
    ['nobody', { caller: { address: '' } }],
  ])('of %s', async (_, changed) => {
    await expect(create(changed)).rejects.toMatchObject({ kind: 'internal' })
    expect([sent, begun]).toEqual([0, []])
  })
})

it('leaves the ledger where certainly nothing was created', async () => {
  fault = new Fault('invalid', 'no', { certain: true })
  await expect(create()).rejects.toBe(fault)
  expect([dropped, doubted, held, observed]).toEqual([['intent-1'], [], [], []])
})

it('stays where nobody knows, and is looked for in five seconds, with the key of the caller', async () => {
  fault = new Fault('timedOut', 'late')
  await expect(create()).rejects.toBe(fault)
  expect(dropped).toEqual([])
  expect(doubted).toEqual([['intent-1', now + 5_000]])
  expect(held).toEqual(['secret'])
  expect(observed).toEqual([{ what: 'create', provider: 'alpha', outcome: 'unknown' }])
})

it('tells the fault of the provider where the ledger fails too', async () => {
  const failing = { ...ledger, drop: () => Promise.reject(new Error('disk')), doubt: () => Promise.reject(new Error('disk')) }
  const broken = intent({ ledger: failing, provider: 'alpha', clock: () => now, observe: () => {} })
  for (const certain of [true, false]) {
    fault = new Fault('failed', 'no', { certain })
    const context = { requestId: 'r', caller: { address: '', identity: 'acme' }, attempt: 'i', deadline: performance.now() + 1 }
    await expect(broken(provider).call('createTransaction', request, context as Context)).rejects.toBe(fault)
  }
})
