import { beforeEach, describe, expect, it } from 'vitest'
import type { Observation } from '../../domain/observation.ts'
import type { Caller, Gate } from '../../domain/service.ts'
import { admission } from './admission.ts'
import { clientLimits, type LimitState, type Limits } from './limits.ts'
import type { VerifiedKeys } from './verified-keys.ts'

const configured: Limits = { quotes: 60, create: 30, read: 120, unverified: 600, window: 60, dryRun: false }
const callerWithoutKey: Caller = { address: '192.0.2.1' }
const callerWithUnknownKey: Caller = { ...callerWithoutKey, isKeyUnknown: true }
const client: Caller = { address: '192.0.2.1', identity: 'acme' }

let consumed: [string, number, number][]
let states: Record<string, Partial<LimitState>>
let decided: string[]
let refused: Set<string>
beforeEach(() => {
  refused = new Set()
  consumed = []
  states = {}
  decided = []
})

const limiter = {
  async consume(bucket: string, limit: number, window: number): Promise<LimitState> {
    consumed.push([bucket, limit, window])
    return { isOver: false, remaining: limit - 1, resetSeconds: 42, ...states[bucket], ...states[`${bucket} ${limit}`] }
  },
}

const refusedAddresses = {
  has: async (address: string) => refused.has(address),
  add: (address: string) => void refused.add(address),
}

function gate({ dryRun = false, verifiedKeys = undefined as VerifiedKeys | undefined } = {}): Gate {
  const observe = (observation: Observation): void => {
    if (observation.what === 'limit') decided.push(`${observation.policy} ${observation.decision}`)
  }
  const limits = clientLimits({ limiter, configured: { ...configured, dryRun }, refusedAddresses, observe })
  return admission({ limits, refusedAddresses, verifiedKeys, isShed: () => false })
}

const verifiedKeysOf = (isVerified: boolean): VerifiedKeys => ({ has: async () => isVerified, add: async () => {} })
const over: Partial<LimitState> = { isOver: true, remaining: 0 }

describe('is counted for', () => {
  it.each([
    ['getRate', callerWithoutKey, 'quotes:address:192.0.2.1', 60],
    ['listCurrencies', client, 'quotes:identity:acme', 60],
    ['createTransaction', client, 'create:identity:acme', 30],
    ['listTransactions', client, 'read:identity:acme', 120],
    ['getTransaction', client, 'read:identity:acme', 120],
  ] as const)('%s of %o: %s', async (op, caller, bucket, limit) => {
    const { quota, refusal } = await gate()(op, caller)
    expect(consumed).toEqual([[bucket, limit, 60]])
    expect(quota).toEqual({ policy: bucket.split(':')[0], limit, windowSeconds: 60, remaining: limit - 1, resetSeconds: 42 })
    expect(refusal).toBeUndefined()
  })

  it("the address, for quotes with a provider's own key: it is not verified yet", async () => {
    await gate({ verifiedKeys: verifiedKeysOf(true) })('getRate', client)
    expect(consumed).toEqual([['quotes:address:192.0.2.1', 60, 60]])
  })

  it('the identity alone, once its key was accepted', async () => {
    await gate({ verifiedKeys: verifiedKeysOf(true) })('getTransaction', client)
    expect(consumed).toEqual([['read:identity:acme', 120, 60]])
  })

  it('the address and all addresses too, until its key was accepted', async () => {
    const { refusal } = await gate({ verifiedKeys: verifiedKeysOf(false) })('getTransaction', client)
    expect(consumed).toEqual([
      ['unverified:address:192.0.2.1', 20, 60],
      ['unverified:all', 600, 60],
      ['read:identity:acme', 120, 60],
    ])
    expect(refusal).toBeUndefined()
  })
})

describe('is refused', () => {
  it.each([
    [42, 42],
    [0, 1],
    [-3, 1],
    [99, 60],
  ])('with %i s left of the window: Retry-After is %i s', async (resetSeconds, retryAfter) => {
    states = { 'quotes:address:192.0.2.1': { ...over, resetSeconds } }
    const { refusal } = await gate()('getRate', callerWithoutKey)
    expect(refusal).toMatchObject({ kind: 'limited', retryAfter })
    expect(refusal?.reason).toBe('limited')
    expect(decided).toEqual(['quotes refused'])
  })

  it.each(['unverified:address:192.0.2.1', 'unverified:all'])('a client that guesses keys, by %s', async (bucket) => {
    states = { [bucket]: over }
    for (const verifiedKeys of [undefined, verifiedKeysOf(false)]) {
      consumed = []
      const { refusal, quota } = await gate({ verifiedKeys })('getTransaction', verifiedKeys ? client : callerWithUnknownKey)
      expect(refusal).toMatchObject({ kind: 'limited', reason: 'unverified_limited' })
      expect(quota?.policy).toBe('unverified')
      expect(consumed.at(-1)?.[0], 'nothing is counted after that').toBe(bucket)
    }
    expect(decided).toEqual(['unverified refused', 'unverified refused'])
  })

  it.each([
    ['refused lately', true, 600],
    ['not refused lately', false, 3_000],
  ])('above the bound for all, an address with a key that was %s', async (_, isRefused, limit) => {
    states = { 'unverified:all 600': over, 'unverified:all 3000': over }
    if (isRefused) refused.add('192.0.2.1')
    const { refusal } = await gate({ verifiedKeys: verifiedKeysOf(false) })('getTransaction', client)
    expect(refusal).toMatchObject({ kind: 'limited' })
    expect(consumed.at(-1)).toEqual(['unverified:all', limit, 60])
  })

  it('no other address above the bound for all, below five times it', async () => {
    states = { 'unverified:all 600': over }
    expect((await gate({ verifiedKeys: verifiedKeysOf(false) })('getTransaction', client)).refusal).toBeUndefined()
  })

  it('a client without a key, by the address alone', async () => {
    states = { 'unverified:all': over }
    expect((await gate()('getTransaction', callerWithoutKey)).refusal).toMatchObject({ kind: 'unauthorized' })
    expect(consumed).toEqual([['unverified:address:192.0.2.1', 20, 60]])
    expect(refused.size).toBe(0)
  })

  it('a client with an unknown key: its address is recorded', async () => {
    expect((await gate()('getTransaction', callerWithUnknownKey)).refusal).toMatchObject({ kind: 'unauthorized' })
    expect([...refused]).toEqual(['192.0.2.1'])
  })

  it('a client without a key, as unauthorized', async () => {
    const { refusal } = await gate()('createTransaction', callerWithoutKey)
    expect(refusal).toMatchObject({ kind: 'unauthorized' })
    expect(decided).toEqual(['unverified admitted'])
  })
})

describe('is counted as', () => {
  it.each([
    [7, 'admitted'],
    [6, 'near'],
    [0, 'near'],
  ])('with %i of 60 left: %s', async (remaining, decision) => {
    states = { 'quotes:address:192.0.2.1': { remaining } }
    await gate()('getRate', callerWithoutKey)
    expect(decided).toEqual([`quotes ${decision}`])
  })
})

describe('in a dry run', () => {
  it('a request above the limit is admitted, and counted', async () => {
    states = { 'quotes:address:192.0.2.1': over }
    const admission = await gate({ dryRun: true })('getRate', callerWithoutKey)
    expect(admission).toEqual({ quota: expect.objectContaining({ policy: 'quotes', remaining: 0 }) })
    expect(decided).toEqual(['quotes dry_run'])
  })

  it('a client with an unknown key is still refused', async () => {
    states = { 'unverified:all': over }
    expect((await gate({ dryRun: true })('getTransaction', callerWithUnknownKey)).refusal).toMatchObject({ kind: 'unauthorized' })
    expect(decided).toEqual(['unverified dry_run'])
  })

  it('an admitted request is counted as usual', async () => {
    await gate({ dryRun: true })('getRate', callerWithoutKey)
    expect(decided).toEqual(['quotes admitted'])
  })
})
