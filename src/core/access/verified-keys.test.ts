import { afterEach, expect, test, vi } from 'vitest'
import { keyVerification, verifiedOrInLedger } from './verified-keys.ts'

afterEach(() => void vi.useRealTimers())

const noKeys = { has: async () => false, add: async () => {} }

/** A ledger with rows of these owners. It records the number of owners in each look-up. */
function ledgerOf(...owners: readonly string[]) {
  const lookups: number[] = []
  const knownOwners = async (requested: readonly string[]) => {
    lookups.push(requested.length)
    await new Promise((resolve) => setTimeout(resolve, 1))
    return new Set(requested.filter((owner) => owners.includes(owner)))
  }
  return { lookups, knownOwners }
}

test('R23: a flood of unverified keys causes few look-ups in the ledger, and a known owner is found among them', async () => {
  vi.useFakeTimers() // each may wait a second, which so many take on a busy machine
  const ledger = ledgerOf('known')
  const { has } = verifiedOrInLedger(noKeys, ledger)
  const guesses = Array.from({ length: 5_000 }, (_, at) => `guess-${at}`)
  const all = Promise.all([...guesses, 'known'].map(has))
  await vi.advanceTimersByTimeAsync(500)
  const verified = await all
  expect(verified.filter((isVerified) => isVerified)).toHaveLength(1)
  expect(verified.at(-1)).toBe(true)
  expect(ledger.lookups.length).toBeLessThan(20)
  expect(Math.max(...ledger.lookups)).toBe(500)
})

test('R23: a verified key is not looked up, and if the ledger fails it verifies no key', async () => {
  const ledger = ledgerOf('known')
  expect(await verifiedOrInLedger({ ...noKeys, has: async () => true }, ledger).has('verified')).toBe(true)
  expect(ledger.lookups).toEqual([])
  const failing = { knownOwners: () => Promise.reject(new Error('lost')) }
  expect(await verifiedOrInLedger(noKeys, failing).has('known')).toBe(false)
})

test('a key that another request has verified meanwhile is not read with again', async () => {
  const verified = new Set<string>()
  let reads = 0
  const verifyKey = keyVerification({
    async read() {
      reads++
      verified.add('acme')
    },
    refusedAddresses: { has: async () => false, add() {} },
    verifiedKeys: { has: async (identity) => verified.has(identity), add: async () => {} },
    mayVerify: async () => true,
  })
  const caller = { address: '192.0.2.1', identity: 'acme', key: 'key' }
  expect(await verifyKey(caller)).toBe(true)
  expect(await verifyKey(caller)).toBe(true)
  expect(reads).toBe(1)
})
