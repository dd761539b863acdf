import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isKey, keyBytes, makeKey } from '../../domain/key.ts'
import type { Observation } from '../../domain/observation.ts'
import { authentication as identification, type KeyRecord } from './authentication.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }))
afterEach(() => void vi.useRealTimers())

/** The same key for the same number. */
function keyOf(number: number): string {
  const random = new Uint8Array(keyBytes)
  new DataView(random.buffer).setUint32(0, number)
  return makeKey(random)
}

const maxLookupsPerSecond = 400
const digest = (key: string): string => `digest of ${key}`
const acme = keyOf(1)
const advance = (milliseconds: number): void => void vi.advanceTimersByTime(milliseconds)

/** A store that looks up keys one by one. */
type Authenticate = (key: string, isQuote?: boolean) => Promise<string | undefined>

/** The identity alone. */
function authentication(options: Omit<Parameters<typeof identification>[0], 'uses'>): Authenticate {
  const identify = identification({ ...options, uses: { note: () => {} } })
  return async (key, isQuote = false) => (await identify(key, isQuote, '192.0.2.1'))?.identity
}

function storeOf(findKey: (digestOfKey: string) => Promise<KeyRecord | undefined>) {
  return {
    async findKeys(digests: readonly string[]) {
      const found = await Promise.all(digests.map(async (digestOfKey) => [digestOfKey, await findKey(digestOfKey)] as const))
      return new Map(found.filter((entry): entry is [string, KeyRecord] => entry[1] !== undefined))
    },
  }
}

/** Authenticates 1,000 keys at once, like a flood, then the next ones. */
async function authenticateAll(authenticate: Authenticate, keys: readonly string[]): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = []
  for (let at = 0; at < keys.length; at += 1_000) {
    const group = Promise.all(keys.slice(at, at + 1_000).map((key) => authenticate(key)))
    await vi.advanceTimersByTimeAsync(30)
    found.push(...(await group))
  }
  return found
}

/** One ledger, read by any number of replicas. */
function ledger() {
  const keyRecords = new Map<string, KeyRecord>([[digest(acme), { identity: 'account-1' }]])
  const lookedUp: string[] = []
  let failure: Error | undefined
  const findKey = async (digestOfKey: string): Promise<KeyRecord | undefined> => {
    lookedUp.push(digestOfKey)
    if (failure) throw failure
    return keyRecords.get(digestOfKey)
  }
  return {
    lookedUp,
    addKey: (key: string, keyRecord: KeyRecord) => keyRecords.set(digest(key), keyRecord),
    fail: (reason: Error | undefined) => {
      failure = reason
    },
    replica: (): Authenticate => authentication({ accounts: storeOf(findKey), digest, clock: Date.now, observe: () => {} }),
  }
}

describe('a key', () => {
  it('is authenticated as its account', async () => {
    const { replica, lookedUp } = ledger()
    expect(await replica()(acme)).toBe('account-1')
    expect(lookedUp).toEqual([digest(acme)])
  })

  it.each([
    ['nothing', ''],
    ["a provider's key", 'sandbox-key-1'],
    ['one with a typing error', acme.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    ['one with a space', `${acme} `],
    ['one of another length', `${acme}0`],
  ])('that is malformed costs neither a look-up nor a digest: %s', async (_, key) => {
    const notCalled = (): never => expect.fail('called')
    const authenticate = authentication({
      accounts: { findKeys: notCalled },
      digest: notCalled,
      clock: Date.now,
      observe: () => {},
    })
    expect(await authenticate(key)).toBeUndefined()
  })

  it('that was never issued has no account', async () => {
    expect(await ledger().replica()(keyOf(2))).toBeUndefined()
  })

  it('ends at the moment it expires, though it was looked up before', async () => {
    const { replica, addKey, lookedUp } = ledger()
    addKey(acme, { identity: 'account-1', expiresAt: Date.now() + 1_000 })
    const authenticate = replica()
    advance(999)
    expect(await authenticate(acme)).toBe('account-1')
    advance(1)
    expect(await authenticate(acme)).toBeUndefined()
    expect(lookedUp).toHaveLength(1)
  })
})

describe('A11: what the operator changes takes effect in every replica', () => {
  it('when a key is revoked, even if the clock of the operator is ahead', async () => {
    const { replica, addKey } = ledger()
    const replicas = [replica(), replica()]
    for (const authenticate of replicas) expect(await authenticate(acme)).toBe('account-1')
    addKey(acme, { identity: 'account-1', revokedAt: Date.now() + 600_000 })
    advance(2_000)
    for (const authenticate of replicas) expect(await authenticate(acme)).toBeUndefined()
  })

  it('when a key is issued that was tried before', async () => {
    const { replica, addKey } = ledger()
    const authenticate = replica()
    expect(await authenticate(keyOf(2))).toBeUndefined()
    addKey(keyOf(2), { identity: 'account-2' })
    advance(2_000)
    expect(await authenticate(keyOf(2))).toBe('account-2')
  })

  it('when a key is rotated: the old and the new are one account, until the old one ends', async () => {
    const { replica, addKey } = ledger()
    const authenticate = replica()
    addKey(acme, { identity: 'account-1', expiresAt: Date.now() + 3_000 })
    addKey(keyOf(2), { identity: 'account-1' })
    expect([await authenticate(acme), await authenticate(keyOf(2))]).toEqual(['account-1', 'account-1'])
    advance(3_000)
    expect([await authenticate(acme), await authenticate(keyOf(2))]).toEqual([undefined, 'account-1'])
  })

  it('however late the store responds: after the lifetime the key is looked up again', async () => {
    const slow = Promise.withResolvers<KeyRecord>()
    const findKey = vi.fn(() => (findKey.mock.calls.length === 1 ? slow.promise : Promise.resolve(undefined)))
    const authenticate = authentication({ accounts: storeOf(findKey), digest, clock: Date.now, observe: () => {} })
    const first = authenticate(acme)
    advance(2_000)
    expect(await authenticate(acme)).toBeUndefined()
    slow.resolve({ identity: 'account-1' })
    expect(await first).toBe('account-1')
    expect(await authenticate(acme)).toBeUndefined()
  })
})

describe('the store', () => {
  it('is read once for all concurrent requests and for those within two seconds', async () => {
    const { replica, lookedUp } = ledger()
    const authenticate = replica()
    const found = await Promise.all(Array.from({ length: 50 }, () => authenticate(acme)))
    expect(new Set(found)).toEqual(new Set(['account-1']))
    advance(1_999)
    await authenticate(acme)
    expect(lookedUp).toHaveLength(1)
    advance(1)
    await authenticate(acme)
    expect(lookedUp).toHaveLength(2)
  })

  it('fails with a Fault with retryAfter, and is read again for the next request', async () => {
    const { replica, fail, lookedUp } = ledger()
    const authenticate = replica()
    fail(new Error('connect ECONNREFUSED 10.0.0.7:5432'))
    const refusal = { kind: 'unavailable', retryAfter: 5, message: expect.not.stringContaining('10.0.0.7') }
    const refusals = await Promise.all([authenticate(acme), authenticate(acme)].map((pending) => pending.catch((reason) => reason)))
    expect(refusals).toEqual([expect.objectContaining(refusal), expect.objectContaining(refusal)])
    expect(lookedUp).toHaveLength(1)
    fail(undefined)
    expect(await authenticate(acme)).toBe('account-1')
  })

  it('may throw instead of rejecting', async () => {
    const findKey = (): never => {
      throw new Error('closed')
    }
    const authenticate = authentication({ accounts: storeOf(findKey), digest, clock: Date.now, observe: () => {} })
    await expect(authenticate(acme)).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

describe('while the store is silent', () => {
  /** A store that answers only once it is told to, and an authentication that knows `acme` from before. */
  async function silentStore() {
    const store = { isSilent: false, keyRecord: { identity: 'account-1' } as KeyRecord | undefined }
    const released = Promise.withResolvers<void>()
    const findKey = async (): Promise<KeyRecord | undefined> => {
      if (store.isSilent) await released.promise
      return store.keyRecord
    }
    const observed: string[] = []
    const observe = ({ what }: Observation): void => void observed.push(what)
    const authenticate = authentication({ accounts: storeOf(findKey), digest, clock: Date.now, observe })
    expect(await authenticate(acme)).toBe('account-1')
    store.isSilent = true
    return { authenticate, store, released, observed }
  }

  it('a quote gets what was known of its key, for a minute, and waits only once', async () => {
    vi.useFakeTimers()
    const { authenticate, observed } = await silentStore()
    await vi.advanceTimersByTimeAsync(2_000)
    const first = authenticate(acme, true)
    await vi.advanceTimersByTimeAsync(25)
    expect([await first, observed]).toEqual(['account-1', ['staleKey']])
    for (const pauseMs of [0, 2_000, 55_974]) {
      await vi.advanceTimersByTimeAsync(pauseMs)
      expect(await authenticate(acme, true)).toBe('account-1')
    }
    const last = authenticate(acme, true)
    await vi.advanceTimersByTimeAsync(1)
    const late = authenticate(acme, true)
    await vi.advanceTimersByTimeAsync(250)
    expect([await last, await late]).toEqual(['account-1', undefined])
  })

  it('every other request is refused after a second, and at once while the same look-up goes on', async () => {
    vi.useFakeTimers()
    const { authenticate } = await silentStore()
    await vi.advanceTimersByTimeAsync(2_000)
    const refusals = [0, 999, 500].map(async (pauseMs) => {
      await vi.advanceTimersByTimeAsync(pauseMs)
      return authenticate(acme).catch((reason) => reason)
    })
    await vi.advanceTimersByTimeAsync(1)
    for (const refusal of refusals) expect(await refusal).toMatchObject({ kind: 'unavailable', reason: 'ledger_unavailable' })
  })

  it('a key that was revoked meanwhile ends for quotes as soon as the store answers', async () => {
    vi.useFakeTimers()
    const { authenticate, store, released } = await silentStore()
    store.keyRecord = { identity: 'account-1', revokedAt: Date.now() }
    await vi.advanceTimersByTimeAsync(2_000)
    const first = authenticate(acme, true)
    await vi.advanceTimersByTimeAsync(25)
    expect(await first).toBe('account-1')
    released.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect(await authenticate(acme, true)).toBeUndefined()
  })

  it('a failure changes nothing of that', async () => {
    const { replica, fail } = ledger()
    const authenticate = replica()
    expect(await authenticate(acme)).toBe('account-1')
    fail(new Error('connect ECONNREFUSED 10.0.0.7:5432'))
    for (const pauseMs of [2_000, 2_000, 55_999]) {
      advance(pauseMs)
      expect(await authenticate(acme, true)).toBe('account-1')
      await expect(authenticate(acme)).rejects.toMatchObject({ kind: 'unavailable' })
    }
    advance(1)
    expect(await authenticate(acme, true)).toBeUndefined()
  })
})

describe('A10: guessing', () => {
  // A busy machine would take longer for so many than the second that each may wait.
  beforeEach(() => void vi.useFakeTimers())

  it('10,000 wrong keys reach the store only as digests, and none has an account', async () => {
    const { replica, lookedUp } = ledger()
    const authenticate = replica()
    const guesses = Array.from({ length: 10_000 }, (_, number) => keyOf(number + 2))
    expect(new Set(await authenticateAll(authenticate, guesses))).toEqual(new Set([undefined]))
    expect(lookedUp).toHaveLength(10_000)
    expect(lookedUp.filter((digestOfKey) => isKey(digestOfKey) || !digestOfKey.startsWith('digest of '))).toEqual([])
  })

  it('caches the last 5,000 unknown keys and never more than 10,000, apart from known keys', async () => {
    const { replica, lookedUp } = ledger()
    const authenticate = replica()
    const lookupsOf = (key: string): number => lookedUp.filter((digestOfKey) => digestOfKey === digest(key)).length
    await authenticate(acme)
    await authenticateAll(
      authenticate,
      Array.from({ length: 5_000 }, (_, at) => keyOf(at + 2)),
    )
    await authenticate(keyOf(2))
    expect(lookupsOf(keyOf(2))).toBe(1)
    await authenticateAll(
      authenticate,
      Array.from({ length: 10_000 }, (_, at) => keyOf(at + 5_002)),
    )
    await authenticate(keyOf(2))
    await authenticate(acme)
    expect([lookupsOf(keyOf(2)), lookupsOf(acme)]).toEqual([2, 1])
  })

  it('R21: a flood of unknown keys is a few look-ups, and a key that exists is found among them', async () => {
    const lookups: number[] = []
    const keyRecord = { identity: 'account-1' }
    const findKeys = async (digests: readonly string[]) => {
      lookups.push(digests.length)
      await new Promise((resolve) => setTimeout(resolve, 1))
      return new Map(digests.filter((digestOfKey) => digestOfKey === digest(acme)).map((digestOfKey) => [digestOfKey, keyRecord]))
    }
    const authenticate = authentication({ accounts: { findKeys }, digest, clock: Date.now, observe: () => {} })
    const guesses = Array.from({ length: 5_000 }, (_, number) => keyOf(number + 2))
    const all = Promise.all([...guesses, acme].map((key) => authenticate(key)))
    await vi.advanceTimersByTimeAsync(500)
    const results = await all
    expect(results.filter((account) => account !== undefined)).toEqual(['account-1'])
    expect(lookups.length).toBeLessThan(20)
    expect(Math.max(...lookups)).toBe(500)
  })

  it('R21: keys guessed one after the other are looked up at most 400 times a second', async () => {
    const lookups: number[] = []
    const findKeys = async (digests: readonly string[]) => {
      lookups.push(digests.length)
      return new Map<string, KeyRecord>()
    }
    const authenticate = authentication({ accounts: { findKeys }, digest, clock: Date.now, observe: () => {} })
    const guess = async (): Promise<void> => {
      for (let number = 2; number < 102; number++) await authenticate(keyOf(number))
    }
    const guessing = guess()
    const takenMs = (100 / maxLookupsPerSecond) * 1000
    await vi.advanceTimersByTimeAsync(takenMs - 50)
    expect(lookups.length).toBeLessThan(100)
    await vi.advanceTimersByTimeAsync(1_000)
    await guessing
    expect(lookups.length).toBe(100)
  })

  it('200,000 wrong keys take no memory', { timeout: 180_000 }, async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const heap = (): number => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const keys = Array.from({ length: 20_000 }, (_, number) => keyOf(number))
    let guesses = 0
    const findKey = async (): Promise<undefined> => undefined
    const authenticate = authentication({
      accounts: storeOf(findKey),
      digest: () => `${guesses++}`.padStart(64, '0'),
      clock: Date.now,
      observe: () => {},
    })
    await authenticateAll(authenticate, keys)
    const before = heap()
    for (let round = 1; round < 10; round++) await authenticateAll(authenticate, keys)
    expect(guesses).toBe(200_000)
    expect(heap() - before).toBeLessThan(8_000_000)
    expect(await authenticate(acme)).toBeUndefined() // keeps `authenticate` in use, so that it is not collected
  })
})
