/** Accounts and their keys in the ledger's store (docs/contract.md §5). */

import { expect, test } from 'vitest'
import { findKey } from '../support/key-lookup.ts'
import { unique } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

describeStores(allStores, (shared) => {
  const issued = (name: string, createdAt = 1_000) => ({ id: unique('key'), name, createdAt })

  test('a key stands for its account, and keys of one name for one account', async () => {
    const { accounts } = shared()
    const [name, one, two, other] = [unique('acme'), unique('d'), unique('d'), unique('d')]
    const [first, second] = [issued(name), { ...issued(name), expiresAt: 5_000 }]
    await accounts.addKey(first, one, 'tester')
    await accounts.addKey(second, two, 'tester')
    await accounts.addKey(issued(unique('acme')), other, 'tester')
    const holding = await findKey(accounts, one)
    expect(holding).toStrictEqual({ identity: expect.any(String), account: name, keyId: first.id })
    expect(await findKey(accounts, two)).toStrictEqual({ ...holding, keyId: second.id, expiresAt: 5_000 })
    expect((await findKey(accounts, other))?.identity).not.toBe(holding?.identity)
    expect(await findKey(accounts, unique('d'))).toBeUndefined()
  })

  test('many keys of a new name at once make one account', async () => {
    const { accounts } = shared()
    const [name, digests] = [unique('acme'), Array.from({ length: 8 }, () => unique('d'))]
    await Promise.all(digests.map((digest) => accounts.addKey(issued(name), digest, 'tester')))
    const found = await Promise.all(digests.map((digest) => findKey(accounts, digest)))
    expect(new Set(found.map((holding) => holding?.identity)).size).toBe(1)
  })

  test('no digest is two keys, and of a key that is refused nothing is kept', async () => {
    const { accounts, ledgerAdmin } = await shared().openNew()
    await accounts.addKey(issued('acme'), 'd', 'tester')
    const added = await Promise.allSettled([
      accounts.addKey(issued('bolt'), 'd', 'tester'),
      accounts.addKey(issued('cern'), 'e', 'tester'),
    ])
    expect(added.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(await ledgerAdmin.stats(0)).toMatchObject({ accounts: 2, validKeys: 2 })
    expect((await accounts.listKeys()).map(({ name }) => name).toSorted()).toEqual(['acme', 'cern'])
  })

  test('a key is revoked once, and stays on the list', async () => {
    const { accounts } = await shared().openNew()
    const [late, early] = [issued('acme', 2_000), issued('bolt', 1_000)]
    await accounts.addKey(late, 'late', 'tester')
    await accounts.addKey(early, 'early', 'tester')
    expect(await accounts.revokeKey(late.id, 3_000, 'tester')).toBe(true)
    expect(await accounts.revokeKey(late.id, 4_000, 'tester')).toBe(false)
    expect(await accounts.revokeKey('none', 4_000, 'tester')).toBe(false)
    expect(await accounts.listKeys()).toStrictEqual([early, { ...late, revokedAt: 3_000 }])
    expect(await findKey(accounts, 'late')).toMatchObject({ revokedAt: 3_000 })
  })

  test('a key is followed by another of its account, and ends when its time is over', async () => {
    const { accounts } = shared()
    const [old, next] = [issued(unique('acme')), { id: unique('key'), createdAt: 2_000, expiresAt: 90_000 }]
    const [first, second] = [unique('d'), unique('d')]
    await accounts.addKey(old, first, 'tester')
    expect(await accounts.rotateKey(old.id, 10_000, next, second, 'tester')).toBe(true)
    const before = await findKey(accounts, first)
    expect(before?.expiresAt).toBe(10_000)
    expect(await findKey(accounts, second)).toEqual({
      identity: before?.identity,
      account: old.name,
      keyId: next.id,
      expiresAt: 90_000,
    })
  })

  test('a rotation does not lengthen the life of a key', async () => {
    const { accounts } = shared()
    const [old, digest] = [{ ...issued(unique('acme')), expiresAt: 5_000 }, unique('d')]
    await accounts.addKey(old, digest, 'tester')
    expect(await accounts.rotateKey(old.id, 10_000, { id: unique('key'), createdAt: 2_000 }, unique('d'), 'tester')).toBe(true)
    expect((await findKey(accounts, digest))?.expiresAt).toBe(5_000)
  })

  test('a key that is not there, is revoked or is over is followed by none', async () => {
    const { accounts } = shared()
    const [revoked, over, digest] = [issued(unique('acme')), { ...issued(unique('acme')), expiresAt: 2_000 }, unique('d')]
    await accounts.addKey(revoked, unique('d'), 'tester')
    await accounts.addKey(over, unique('d'), 'tester')
    await accounts.revokeKey(revoked.id, 1_500, 'tester')
    for (const id of [revoked.id, over.id, 'none']) {
      expect(await accounts.rotateKey(id, 10_000, { id: unique('key'), createdAt: 2_000 }, digest, 'tester')).toBe(false)
    }
    expect(await findKey(accounts, digest)).toBeUndefined()
  })

  test('accounts are counted with their keys, and more keys than a page are listed, the oldest first', async () => {
    const { accounts } = await shared().openNew()
    const many = Array.from({ length: 1_100 }, (_, at) => issued('acme', 5_000 - at))
    for (const [at, key] of many.entries()) await accounts.addKey(key, `acme-${at}`, 'tester')
    await accounts.addKey({ ...issued('caf\u00e9'), expiresAt: 7_000 }, 'expires', 'tester')
    const revoked = issued('caf\u00e9')
    await accounts.addKey(revoked, 'revoked', 'tester')
    await accounts.revokeKey(revoked.id, 2_000, 'tester')
    await accounts.changeLimits('zeta', { read: 3 }, 1_000, 'tester')
    const acme = { name: 'acme', keys: 1_100, validKeys: 1_100, createdAt: 5_000, limits: {} }
    const coffee = { name: 'caf\u00e9', keys: 2, validKeys: 1, createdAt: 1_000, limits: {} }
    const zeta = { name: 'zeta', keys: 0, validKeys: 0, createdAt: 1_000, limits: { read: 3 } }
    expect(await accounts.listAccounts(6_999)).toEqual([acme, coffee, zeta])
    expect(await accounts.listAccounts(7_000, 'cafe\u0301')).toEqual([{ ...coffee, validKeys: 0 }])
    expect(await accounts.listAccounts(7_000, 'nobody')).toEqual([])
    const listed = await accounts.listKeys()
    expect(listed.filter(({ name }) => name === 'acme').map(({ id }) => id)).toEqual(many.map(({ id }) => id).toReversed())
    expect(await accounts.readKey(revoked.id)).toEqual({ ...revoked, revokedAt: 2_000 })
    expect(await accounts.readKey('none')).toBeUndefined()
  })

  test('the hours in which keys were last used are written at once, and none is set back', async () => {
    const { accounts } = await shared().openNew()
    const [first, second] = [issued('acme'), issued('bolt')]
    await accounts.addKey(first, 'first', 'tester')
    await accounts.addKey(second, 'second', 'tester')
    await accounts.recordUses(
      new Map([
        [first.id, 7_200_000],
        [second.id, 3_600_000],
        ['none', 3_600_000],
      ]),
    )
    await accounts.recordUses(new Map([[first.id, 3_600_000]]))
    expect((await accounts.listKeys()).map(({ name, lastUsedAt }) => [name, lastUsedAt]).toSorted()).toEqual([
      ['acme', 7_200_000],
      ['bolt', 3_600_000],
    ])
  })
})
