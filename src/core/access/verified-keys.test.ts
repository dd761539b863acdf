import { expect, test } from 'vitest'
import { verifiedOrInLedger } from './verified-keys.ts'

const nobody = { has: async () => false, add: async () => {} }

/** A ledger with rows of these owners, that counts how many it was asked for with each question. */
function ledgerOf(...owners: readonly string[]) {
  const asked: number[] = []
  const knownOwners = async (wanted: readonly string[]) => {
    asked.push(wanted.length)
    await new Promise((resolve) => setTimeout(resolve, 1))
    return new Set(wanted.filter((owner) => owners.includes(owner)))
  }
  return { asked, knownOwners }
}

test('R23: a flood of keys that nobody has accepted is a few questions to the ledger, and one that it knows is found among them', async () => {
  const ledger = ledgerOf('known')
  const { has } = verifiedOrInLedger(nobody, ledger)
  const guesses = Array.from({ length: 5_000 }, (_, at) => `guess-${at}`)
  const proven = await Promise.all([...guesses, 'known'].map(has))
  expect(proven.filter((isProven) => isProven)).toHaveLength(1)
  expect(proven.at(-1)).toBe(true)
  expect(ledger.asked.length).toBeLessThan(20)
  expect(Math.max(...ledger.asked)).toBe(500)
})

test('R23: who is proven is not looked for, and where the ledger fails nobody is known by it', async () => {
  const ledger = ledgerOf('known')
  expect(await verifiedOrInLedger({ ...nobody, has: async () => true }, ledger).has('proven')).toBe(true)
  expect(ledger.asked).toEqual([])
  const failing = { knownOwners: () => Promise.reject(new Error('lost')) }
  expect(await verifiedOrInLedger(nobody, failing).has('known')).toBe(false)
})
