import { beforeEach, describe, expect, it } from 'vitest'
import type { Observation } from '../domain/observation.ts'
import type { Answer, Caller, Context, SwapService } from '../domain/operations.ts'
import type { NewTransaction, Transaction } from '../domain/swap.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import type { Facts, Ledger } from './ledger.ts'
import { settlement } from './settlement.ts'

const now = Date.parse('2026-03-01T10:00:00Z')
const caller: Caller = { address: '', identity: 'acme', key: 'secret' }
const request = { amountIn: '0.10' } as NewTransaction
const made = { id: 'tx-1', amountIn: '0.1', amountOut: '9.9', depositAddress: 'bc1' } as Transaction

let answer: Answer<'createTransaction'>
let kept: unknown[]
let isTheirs: boolean | Error
let outcomes: unknown[]
let held: Caller[]
beforeEach(() => {
  answer = { body: made, provider: 'alpha' }
  kept = []
  isTheirs = true
  outcomes = []
  held = []
})

const ledger = {
  async settle(_: string, facts: Facts) {
    kept.push(facts)
    if (isTheirs instanceof Error) throw isTheirs
    return isTheirs
  },
  async contradict(_: string, told: Transaction, fields: readonly string[]) {
    kept.push([told, fields])
    throw new Error('the disk is full')
  },
} as unknown as Ledger

const service = { call: async () => answer } as unknown as SwapService

function create({ expectsAmount = true, holdsKeys = true } = {}): Promise<Answer<'createTransaction'>> {
  const keys = holdsKeys ? { hold: (who: Caller) => void held.push(who) } : undefined
  const observe = (observation: Observation): void => void outcomes.push('outcome' in observation && observation.outcome)
  const said = { expectsAmount } as Vocabulary
  const layer = settlement({ ledger, provider: 'alpha', said, clock: () => now, observe, keys })
  return layer(service).call('createTransaction', request, { caller } as Context)
}

describe('what was created is kept before it is told', () => {
  it('with what it promised', async () => {
    expect(await create()).toBe(answer)
    expect(kept).toEqual([{ transaction: made, derived: [], promised: '9.9', seenAt: now }])
    expect(outcomes).toEqual([])
  })

  it('without the promised amount, where the form tells what was received', async () => {
    await create({ expectsAmount: false })
    const { amountOut: _, ...received } = made
    expect(kept).toMatchObject([{ transaction: received, promised: '9.9' }])
    expect((kept[0] as Facts).transaction).not.toHaveProperty('amountOut')
  })

  it('and counted where it is of another amount', async () => {
    answer = { ...answer, body: { ...made, amountIn: '0.11' as Transaction['amountIn'] } }
    await create()
    expect(outcomes).toEqual(['otherAmount'])
  })
})

describe('nobody is told of it', () => {
  it('where it contradicts the question, though that cannot be written down', async () => {
    answer = { ...answer, contradicted: ['withdrawalAddress'] }
    await expect(create()).rejects.toMatchObject({ kind: 'contradicted', provider: 'alpha' })
    expect(kept).toEqual([[made, ['withdrawalAddress']]])
    expect(outcomes).toEqual(['contradicted'])
  })

  it('where another has its id', async () => {
    isTheirs = false
    await expect(create()).rejects.toMatchObject({ kind: 'contradicted', provider: 'alpha' })
    expect(outcomes).toEqual(['takenId'])
  })

  it('where it cannot be kept: its outcome is unknown, and it is looked for with the key of the caller', async () => {
    isTheirs = new Error('the disk is full')
    await expect(create()).rejects.toMatchObject({ kind: 'outcomeUnknown', provider: 'alpha' })
    expect([outcomes, held]).toEqual([[], [caller]])
    await expect(create({ holdsKeys: false })).rejects.toMatchObject({ kind: 'outcomeUnknown' })
  })
})
