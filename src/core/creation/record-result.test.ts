import { beforeEach, describe, expect, it } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { DepositInUse } from '../../domain/fault.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Caller, Capabilities, Context, ServiceResponse } from '../../domain/service.ts'
import type { NewTransaction, Transaction } from '../../domain/swap.ts'
import type { DepositClaim, Ledger, TransactionRecord } from '../ports/ledger.ts'
import type { JudgedCreate, JudgedDeposit } from './creation.ts'
import { recordResult } from './record-result.ts'

const now = Date.parse('2026-03-01T10:00:00Z')
const caller: Caller = { address: '', identity: 'acme', key: 'secret' }
const request = { amountIn: '0.10' } as NewTransaction
const made = { id: 'tx-1', amountIn: '0.1', amountOut: '9.9', depositAddress: 'bc1' } as Transaction

const heldBy = (claim: DepositClaim | undefined, facts: Partial<JudgedDeposit> = {}): JudgedDeposit => ({
  isRefused: true,
  judgedIfTaken: [],
  claimAfter: async () => claim,
  observe: () => {},
  ...facts,
})

let response: ServiceResponse<'createTransaction'>
let created: Omit<JudgedCreate, 'response'>
let kept: unknown[]
let intents: string[]
let isAccepted: boolean | Error
let isInUse: boolean
let outcomes: unknown[]
let keptKeys: Caller[]
beforeEach(() => {
  response = { body: made, provider: 'alpha' }
  created = { intent: 'intent-1', contradicted: [], judged: [], deposit: heldBy(undefined) }
  kept = []
  intents = []
  isAccepted = true
  isInUse = false
  outcomes = []
  keptKeys = []
})

const ledger = {
  async complete(intent: string, record: TransactionRecord, _: unknown, claim?: DepositClaim) {
    intents.push(intent)
    if (isInUse && !claim?.givenUpBy && !claim?.isShared) throw new DepositInUse()
    kept.push(record)
    if (isAccepted instanceof Error) throw isAccepted
    return isAccepted
  },
  async markMismatch(intent: string, reported: Transaction, fields: readonly string[]) {
    intents.push(intent)
    kept.push([reported, fields])
    throw new Error('the disk is full')
  },
} as unknown as Ledger

function create({ hasExpectedAmount = true, holdsKeys = true } = {}): Promise<ServiceResponse<'createTransaction'>> {
  const pendingKeys = holdsKeys ? { keep: (pendingCaller: Caller) => void keptKeys.push(pendingCaller) } : undefined
  const observe = (observation: Observation): void => void outcomes.push('outcome' in observation && observation.outcome)
  const capabilities = { hasExpectedAmount } as Capabilities
  const record = recordResult(providerScope({ ledger, capabilities, clock: () => now, observe, pendingKeys }))
  return record({ ...created, response }, request, { caller } as Context)
}

describe('the result is stored before the response', () => {
  it('with the quoted amount', async () => {
    expect(await create()).toBe(response)
    expect(kept).toEqual([{ transaction: made, derived: [], quotedAmountOut: '9.9', reportedAt: now }])
    expect(intents).toEqual(['intent-1'])
    expect(outcomes).toEqual([])
  })

  it('without an amount received, if the form has only received amounts', async () => {
    await create({ hasExpectedAmount: false })
    const { amountOut: _, ...received } = made
    expect(kept).toMatchObject([{ transaction: received, quotedAmountOut: '9.9' }])
    expect((kept[0] as TransactionRecord).transaction).not.toHaveProperty('amountOut')
  })

  it('and counted if it is of another amount', async () => {
    response = { ...response, body: { ...made, amountIn: '0.11' as Transaction['amountIn'] } }
    await create()
    expect(outcomes).toEqual(['otherAmount'])
  })
})

describe('the client does not get it', () => {
  it('if it contradicts the request, even if the ledger fails', async () => {
    created = { ...created, contradicted: ['withdrawalAddress'] }
    await expect(create()).rejects.toMatchObject({ kind: 'contradicted', provider: 'alpha' })
    expect(kept).toEqual([[made, ['withdrawalAddress']]])
    expect(intents).toEqual(['intent-1'])
    expect(outcomes).toEqual(['contradicted'])
  })

  it('if another transaction has its id', async () => {
    isAccepted = false
    await expect(create()).rejects.toMatchObject({ kind: 'contradicted', provider: 'alpha' })
    expect(outcomes).toEqual(['duplicateId'])
  })

  it('if the ledger fails: its outcome is unknown, and it is checked with the key of the caller', async () => {
    isAccepted = new Error('the disk is full')
    await expect(create()).rejects.toMatchObject({ kind: 'outcomeUnknown', provider: 'alpha' })
    expect([outcomes, keptKeys]).toEqual([[], [caller]])
    await expect(create({ holdsKeys: false })).rejects.toMatchObject({ kind: 'outcomeUnknown' })
  })
})

describe('a deposit address that another swap has by the ledger', () => {
  let judgements: boolean[]
  const held = (claim: DepositClaim | undefined, isRefused = true): JudgedDeposit =>
    heldBy(claim, { isRefused, observe: (judgement) => void judgements.push(judgement) })
  beforeEach(() => {
    judgements = []
    isInUse = true
  })

  it('is not given, if that swap may still get a deposit', async () => {
    created = { ...created, deposit: held(undefined) }
    await expect(create()).rejects.toMatchObject({ kind: 'contradicted' })
    expect([kept, outcomes, judgements]).toEqual([[[made, ['depositAddress']]], ['contradicted'], [true]])
  })

  it('is given, if that swap has given it up', async () => {
    created = { ...created, deposit: held({ givenUpBy: { provider: 'beta', id: 'old' } }) }
    expect(await create()).toBe(response)
    expect([intents, outcomes, judgements]).toEqual([['intent-1', 'intent-1'], [], [false]])
  })

  it('is given and counted, if the operator only counts it', async () => {
    created = { ...created, deposit: held(undefined, false) }
    expect(await create()).toBe(response)
    expect([outcomes, judgements]).toEqual([[], [true]])
  })

  it('is not given, if it cannot be looked up who has it', async () => {
    const claimAfter = async (): Promise<never> => Promise.reject(new Error('the ledger is silent'))
    created = { ...created, deposit: { ...held(undefined), claimAfter } }
    await expect(create()).rejects.toMatchObject({ kind: 'contradicted' })
    expect(judgements).toEqual([true])
  })
})
