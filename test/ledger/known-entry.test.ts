/** An entry that is read again by its reader: it is current, however little the store reads for it. */
import { expect, onTestFinished, test } from 'vitest'
import type { Ledger, LedgerEntry } from '../../src/core/ports/ledger.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { depositOf, facts, intent, unique, upsert } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const names = () => ({ owner: unique('owner'), provider: unique('provider') })

async function found(ledger: Ledger, owner: string, provider: string, known?: LedgerEntry): Promise<LedgerEntry> {
  const entry = await ledger.find(owner, provider, 'x', known)
  if (!entry) throw new Error('The entry is missing.')
  return entry
}

/** A store remembers when it read an entry from the second read on. */
async function readTwice(ledger: Ledger, owner: string, provider: string): Promise<LedgerEntry> {
  return await found(ledger, owner, provider, await found(ledger, owner, provider))
}

describeStores(allStores, (shared) => {
  test('after writes, and after it was pruned', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const { owner, provider } = names()
    await ledger.upsert(owner, provider, facts('x'))
    let known = await readTwice(ledger, owner, provider)
    for (const status of ['exchanging', 'sending', 'success'] as const) {
      await upsert(ledger, owner, provider, facts('x', { status }))
      known = await found(ledger, owner, provider, known)
      expect(known.transaction.status).toBe(status)
    }
    expect(await found(ledger, owner, provider, known)).toStrictEqual(known)
    await ledgerAdmin.prune(Date.now() + 1, 'tester')
    expect(await ledger.find(owner, provider, 'x', known)).toBeUndefined()
  })

  test('a create that takes an observed id is not hidden by what was observed', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    await ledger.upsert(owner, provider, facts('x', { depositAddress: 'seen' }))
    const known = await readTwice(ledger, owner, provider)
    const create = intent({ owner, provider })
    await ledger.begin(create)
    await ledger.complete(create.id, facts('x'))
    expect(await found(ledger, owner, provider, known)).toMatchObject({
      isCreated: true,
      transaction: { depositAddress: depositOf('x') },
    })
  })

  test('what is known of another transaction, or of another owner, is not returned', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    await ledger.upsert(owner, provider, facts('x'))
    await ledger.upsert(owner, provider, facts('y'))
    const known = await readTwice(ledger, owner, provider)
    expect((await ledger.find(owner, provider, 'y', known))?.transaction.id).toBe('y')
    expect(await ledger.find(owner, provider, 'z', known)).toBeUndefined()
    expect(await ledger.find(unique('stranger'), provider, 'x', known)).toBeUndefined()
    expect(await ledger.find(owner, unique('provider'), 'x', known)).toBeUndefined()
  })

  test('a write that failed leaves it as it was', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    await ledger.upsert(owner, provider, facts('x'))
    const known = await readTwice(ledger, owner, provider)
    const circular: Record<string, unknown> = {}
    circular.itself = circular
    await expect(ledger.upsert(owner, provider, facts('x', circular), known)).rejects.toThrow()
    expect(await found(ledger, owner, provider, known)).toStrictEqual(known)
  })

  test('an entry that a write or a list returned is read, since the store does not know when it was', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    const first = await ledger.upsert(owner, provider, facts('x'))
    const [listed] = await ledger.findAll(owner, provider, ['x'])
    await upsert(ledger, owner, provider, facts('x', { status: 'sending' }))
    for (const known of [first, listed]) expect((await found(ledger, owner, provider, known)).transaction.status).toBe('sending')
  })
})

describeStores(durableStores, (shared) => {
  test('after a write through another connection, at once', async () => {
    const { ledger, url } = shared()
    const other = await openLedger(url)
    onTestFinished(other.close)
    const { owner, provider } = names()
    await ledger.upsert(owner, provider, facts('x'))
    let known = await readTwice(ledger, owner, provider)
    for (const txHashIn of Array.from({ length: 50 }, (_, at) => `${at}`)) {
      await upsert(other.ledger, owner, provider, facts('x', { txHashIn }))
      known = await found(ledger, owner, provider, known)
      expect(known.transaction.txHashIn).toBe(txHashIn)
    }
  })
})

describeStores(['SQLite in a file'], (shared) => {
  test('it is the same object until something is written, through its own connection or another one', async () => {
    const { ledger, url } = await shared().openNew()
    const other = await openLedger(url)
    onTestFinished(other.close)
    const { owner, provider } = names()
    await ledger.upsert(owner, provider, facts('x'))
    let known = await readTwice(ledger, owner, provider)
    for (const { ledger: writer } of [{ ledger }, other]) {
      expect(await found(ledger, owner, provider, known)).toBe(known)
      await writer.upsert(owner, unique('provider'), facts('y'))
      const again = await found(ledger, owner, provider, known)
      expect(again).not.toBe(known)
      expect(again).toStrictEqual(known)
      known = again
    }
  })
})
