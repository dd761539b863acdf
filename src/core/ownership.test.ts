import { beforeEach, describe, expect, it } from 'vitest'
import { AssetTable } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Observation } from '../domain/observation.ts'
import type { Answer, Context, SwapService } from '../domain/operations.ts'
import type { Transaction } from '../domain/swap.ts'
import { Freshness } from './freshness.ts'
import type { Entry, Ledger } from './ledger.ts'
import { ownership } from './ownership.ts'
import { SequenceClock } from './sequence.ts'

const now = Date.parse('2026-03-01T10:00:00Z')
const transaction = { id: 'tx-1', status: 'wait', amountIn: '1', createdAt: '2026-03-01T09:00:00Z' } as Transaction
const context = { caller: { address: '', identity: 'acme' }, client: {} } as Context

let entry: Entry | undefined
let told: () => Promise<Answer<'getTransaction'>>
let asked: number
let seen: string[]
let observed: Observation[]
beforeEach(() => {
  entry = {
    transaction,
    derived: [],
    seenAt: now - 30_000,
    readAt: now - 30_000,
    owner: 'acme',
    provider: 'alpha',
    isCreated: true,
  }
  told = async () => ({ body: { ...transaction, status: 'sending' }, provider: 'alpha' })
  asked = 0
  seen = []
  observed = []
})

const ledger = {
  find: async (owner: string) => (owner === 'acme' ? entry : undefined),
  async see(owner: string) {
    seen.push(owner)
    return undefined
  },
} as unknown as Ledger

const service = {
  call() {
    asked++
    return told()
  },
} as unknown as SwapService

const observe = (observation: Observation): void => void observed.push(observation)
const clock = (): number => now
const makeLayer = () => {
  const freshness = new Freshness({ refreshMs: 10_000, clock, steadyClock: clock })
  const sequences = new SequenceClock(clock)
  return ownership({ ledger, provider: 'alpha', table: new AssetTable([]), freshness, sequences, clock, observe })(service)
}
let layer = makeLayer()
beforeEach(() => {
  layer = makeLayer()
})
const get = (who: Context = context): Promise<Answer<'getTransaction'>> => layer.call('getTransaction', { id: 'tx-1' }, who)

it("another's transaction is one that does not exist, and nobody is asked", async () => {
  await expect(get({ ...context, caller: { address: '', identity: 'other' } })).rejects.toMatchObject({ kind: 'notFound' })
  expect([asked, observed]).toEqual([0, []])
})

it('what is due is asked for, kept and told as it is now', async () => {
  const { body, derived } = await get()
  expect([body.status, derived, seen]).toEqual(['sending', [], ['acme']])
  expect(observed).toEqual([{ what: 'cache', cache: 'transaction', outcome: 'miss' }])
})

it('what is fresh is told as it was seen, with its age in seconds', async () => {
  entry = { ...(entry as Entry), readAt: now - 9_999 }
  expect((await get()).body.status).toBe('wait')
  expect(asked).toBe(0)
  expect(observed).toEqual([{ what: 'cache', cache: 'transaction', outcome: 'hit', age: 30 }])
})

it('whoever asks meanwhile waits for the same answer, and the next one asks anew', async () => {
  const answers = await Promise.all([get(), get()])
  expect(answers.map(({ body }) => body.status)).toEqual(['sending', 'sending'])
  expect(asked).toBe(1)
  expect(observed.map((observation) => 'outcome' in observation && observation.outcome).toSorted()).toEqual(['miss', 'shared'])
  await get()
  expect(asked).toBe(2)
})

describe('where the provider fails', () => {
  it('what was last seen is told, with its age', async () => {
    told = () => Promise.reject(new Fault('failed', 'broken'))
    expect(await get()).toMatchObject({ stale: 30, body: { status: 'wait' } })
    expect(observed).toEqual([{ what: 'cache', cache: 'transaction', outcome: 'stale', age: 30 }])
  })

  it('by telling of another transaction, nothing of that is told or kept', async () => {
    told = async () => ({ body: { ...transaction, id: 'tx-2', depositAddress: 'theirs' }, provider: 'alpha' })
    expect(await get()).toMatchObject({ stale: 30, body: { id: 'tx-1' } })
    expect(seen).toEqual([])
  })

  it.each(['notFound', 'accessRefused', 'internal'] as const)('with %s it is told', async (kind) => {
    told = () => Promise.reject(new Fault(kind, 'no'))
    await expect(get()).rejects.toMatchObject({ kind })
  })
})
