/** docs/contract.md §17: an action on a swap is in the ledger before it is sent, once, and leaves only by its outcome. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { NewSwapAction } from '../../src/core/swap-actions.ts'
import { facts, unique } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

function refund(fields: Partial<NewSwapAction> = {}): NewSwapAction {
  return {
    claim: randomUUID(),
    provider: unique('provider'),
    id: 'x',
    kind: 'decision',
    action: 'refundTransaction',
    owner: 'owner',
    actor: 'account:acme',
    audited: { refundAddress: 'bc1qxy…0wlh' },
    refundAddress: 'bc1q-refund',
    claimedAt: 1_000,
    nextCheckAt: 2_000,
    ...fields,
  }
}

describeStores(allStores, (shared) => {
  test('of many claims of one kind one is stored, and it alone is in the audit log', async () => {
    const { swapActions, audit } = shared()
    const first = refund()
    const { provider } = first
    const claims = [first, ...Array.from({ length: 9 }, (_, at) => refund({ provider, actor: `account:${at}` }))]
    const results = await Promise.all(claims.map((claim) => swapActions.claim(claim)))
    expect(results.filter(Boolean)).toHaveLength(1)
    const winner = claims[results.indexOf(true)] as NewSwapAction
    expect(await swapActions.read(provider, 'x')).toEqual([
      expect.objectContaining({ claim: winner.claim, state: 'sent', checkCount: 0, nextCheckAt: 2_000, refundExtraId: undefined }),
    ])
    const records = (await audit.read({})).filter(({ subject }) => subject === `${provider}~x`)
    const { actor, audited: after } = winner
    expect(records).toEqual([expect.objectContaining({ actor, action: 'transaction.refund', after })])
  })

  test('the same claim again is true, and a refund address is of another kind', async () => {
    const { swapActions } = shared()
    const first = refund()
    const { provider } = first
    expect([await swapActions.claim(first), await swapActions.claim(first)]).toEqual([true, true])
    expect(await swapActions.claim(refund({ provider, action: 'continueTransaction' }))).toBe(false)
    const address = refund({ provider, kind: 'refundAddress', action: 'setRefundAddress' })
    expect(await swapActions.claim(address)).toBe(true)
    expect(await swapActions.read(provider, 'x')).toHaveLength(2)
    expect(await swapActions.read(provider, 'y')).toEqual([])
  })

  test('one that is done stays for good; one that was not carried out makes room', async () => {
    const { swapActions } = shared()
    const first = refund()
    const { provider } = first
    await swapActions.claim(first)
    await swapActions.drop(first)
    const second = refund({ provider })
    expect(await swapActions.claim(second)).toBe(true)
    await swapActions.drop(first)
    await swapActions.markDone(second)
    await swapActions.drop(second)
    expect(await swapActions.read(provider, 'x')).toMatchObject([{ claim: second.claim, state: 'done', nextCheckAt: undefined }])
    const [stored] = await swapActions.read(provider, 'x')
    expect(await swapActions.claim(refund({ provider }), stored)).toBe(false)
  })

  test('a person replaces one of unknown outcome, once', async () => {
    const { swapActions } = shared()
    const first = refund()
    const { provider } = first
    await swapActions.claim(first)
    const [stored] = await swapActions.read(provider, 'x')
    const results = await Promise.all([1, 2, 3].map(() => swapActions.claim(refund({ provider }), stored)))
    expect(results.filter(Boolean)).toHaveLength(1)
  })

  test('a check that is due is taken by one process, and there may be none after it', async () => {
    const { swapActions } = await shared().openNew()
    const [late, early] = [refund({ nextCheckAt: 3_000 }), refund({ nextCheckAt: 2_000 })]
    for (const claim of [late, early]) await swapActions.claim(claim)
    expect(await swapActions.due(1_999, 9)).toEqual([])
    expect((await swapActions.due(3_000, 9)).map(({ claim }) => claim)).toEqual([early.claim, late.claim])
    const [due] = await swapActions.due(3_000, 1)
    if (!due) throw new Error('nothing is due')
    const taken = await Promise.all([1, 2, 3].map(() => swapActions.scheduleNextCheck(due, 9_000)))
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect((await swapActions.due(8_999, 9)).map(({ claim }) => claim)).toEqual([late.claim])
    const [again] = (await swapActions.due(9_000, 9)).filter(({ claim }) => claim === early.claim)
    expect(again).toMatchObject({ checkCount: 1 })
    if (again) await swapActions.scheduleNextCheck(again, undefined)
    expect((await swapActions.due(99_000, 9)).map(({ claim }) => claim)).toEqual([late.claim])
  })

  test('it goes with its swap', async () => {
    const { ledger, ledgerAdmin, swapActions } = await shared().openNew()
    await ledger.upsert('owner', 'alpha', facts('x', { status: 'success' }))
    await ledger.upsert('owner', 'alpha', facts('y'))
    for (const id of ['x', 'y']) await swapActions.claim(refund({ provider: 'alpha', id }))
    await ledgerAdmin.prune(Date.now(), 'tester')
    expect([await swapActions.read('alpha', 'x'), await swapActions.read('alpha', 'y')]).toMatchObject([[], [{ id: 'y' }]])
  })
})
