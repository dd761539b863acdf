/** docs/contract.md §3.11: an action on a swap is in the ledger before it is sent, once, and leaves only by its outcome. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { NewSwapAction } from '../../src/core/ports/swap-actions.ts'
import { facts, intent, requested, unique } from './samples.ts'
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
  async function refundOfSwap(): Promise<NewSwapAction> {
    const action = refund()
    await shared().ledger.upsert('owner', action.provider, facts('x'))
    return action
  }

  test('of many claims of one kind one is stored, and it alone is in the audit log', async () => {
    const { swapActions, audit } = shared()
    const first = await refundOfSwap()
    const { provider } = first
    const claims = [first, ...Array.from({ length: 9 }, (_, at) => refund({ provider, actor: `account:${at}` }))]
    const results = await Promise.all(claims.map((claim) => swapActions.claimAction(claim)))
    expect(results.filter(Boolean)).toHaveLength(1)
    const winner = claims[results.indexOf(true)] as NewSwapAction
    expect(await swapActions.readActions(provider, 'x')).toEqual([
      expect.objectContaining({ claim: winner.claim, state: 'sent', checkCount: 0, nextCheckAt: 2_000, refundExtraId: undefined }),
    ])
    const records = (await audit.read({})).filter(({ subject }) => subject === `${provider}~x`)
    const { actor, audited: after } = winner
    expect(records).toEqual([expect.objectContaining({ actor, action: 'transaction.refund', after })])
  })

  test('the same claim again is true, and a refund address is of another kind', async () => {
    const { swapActions } = shared()
    const first = await refundOfSwap()
    const { provider } = first
    expect([await swapActions.claimAction(first), await swapActions.claimAction(first)]).toEqual([true, true])
    expect(await swapActions.claimAction(refund({ provider, action: 'continueTransaction' }))).toBe(false)
    const address = refund({ provider, kind: 'refundAddress', action: 'setRefundAddress' })
    expect(await swapActions.claimAction(address)).toBe(true)
    expect(await swapActions.readActions(provider, 'x')).toHaveLength(2)
    expect(await swapActions.readActions(provider, 'y')).toEqual([])
  })

  test('a swap gets one refund address, by actions of whichever kind', async () => {
    const { swapActions } = shared()
    const first = await refundOfSwap()
    const { provider } = first
    const address = { provider, kind: 'refundAddress', action: 'setRefundAddress' } as const
    expect(await swapActions.claimAction(first)).toBe(true)
    for (const other of [{ refundAddress: 'bc1q-other' }, { refundExtraId: '7' }])
      expect(await swapActions.claimAction(refund({ ...address, ...other }))).toBe(false)
    await swapActions.dropAction(first)
    expect(await swapActions.claimAction(refund({ ...address, refundAddress: 'bc1q-other' }))).toBe(true)
    expect(await swapActions.claimAction(refund({ provider }))).toBe(false)
    expect(await swapActions.claimAction(refund({ provider, refundAddress: undefined }))).toBe(true)
  })

  test('one that is done stays for good; one that was not carried out makes room', async () => {
    const { swapActions } = shared()
    const first = await refundOfSwap()
    const { provider } = first
    await swapActions.claimAction(first)
    await swapActions.dropAction(first)
    const second = refund({ provider })
    expect(await swapActions.claimAction(second)).toBe(true)
    await swapActions.dropAction(first)
    await swapActions.markActionDone(second)
    await swapActions.dropAction(second)
    expect(await swapActions.readActions(provider, 'x')).toMatchObject([
      { claim: second.claim, state: 'done', nextCheckAt: undefined },
    ])
    const [stored] = (await swapActions.readActions(provider, 'x')) ?? []
    expect(await swapActions.claimAction(refund({ provider }), stored)).toBe(false)
  })

  test('a person replaces one of unknown outcome, once', async () => {
    const { swapActions } = shared()
    const first = await refundOfSwap()
    const { provider } = first
    await swapActions.claimAction(first)
    const [stored] = (await swapActions.readActions(provider, 'x')) ?? []
    const results = await Promise.all([1, 2, 3].map(() => swapActions.claimAction(refund({ provider }), stored)))
    expect(results.filter(Boolean)).toHaveLength(1)
  })

  test('none is stored for a swap of another owner, or that a person has settled', async () => {
    const { ledger, ledgerAdmin, swapActions, audit } = await shared().openNew()
    await ledger.upsert('owner', 'alpha', facts('x', { attention: 'held' }))
    const claim = (fields: object) => swapActions.claimAction(refund({ provider: 'alpha', ...fields }))
    expect(await Promise.all([claim({ owner: 'other' }), claim({ id: 'none' })])).toEqual([false, false])
    await ledgerAdmin.settle('alpha', 'x', { status: 'refunded', note: 'n', at: 5 }, 'tester')
    expect(await claim({})).toBe(false)
    expect(await swapActions.readActions('alpha', 'x')).toEqual([])
    expect((await audit.read({})).map(({ action }) => action)).toEqual(['transaction.settle'])
  })

  test('a check that is due is taken by one process, and there may be none after it', async () => {
    const { ledger, swapActions } = await shared().openNew()
    const [late, early] = [refund({ nextCheckAt: 3_000 }), refund({ nextCheckAt: 2_000 })]
    for (const claim of [late, early]) {
      await ledger.upsert('owner', claim.provider, facts('x'))
      await swapActions.claimAction(claim)
    }
    expect(await swapActions.dueActions(1_999, 9)).toEqual([])
    expect((await swapActions.dueActions(3_000, 9)).map(({ claim }) => claim)).toEqual([early.claim, late.claim])
    const [due] = await swapActions.dueActions(3_000, 1)
    if (!due) throw new Error('nothing is due')
    const taken = await Promise.all([1, 2, 3].map(() => swapActions.scheduleNextActionCheck(due, 9_000)))
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect((await swapActions.dueActions(8_999, 9)).map(({ claim }) => claim)).toEqual([late.claim])
    const [again] = (await swapActions.dueActions(9_000, 9)).filter(({ claim }) => claim === early.claim)
    expect(again).toMatchObject({ checkCount: 1 })
    if (again) await swapActions.scheduleNextActionCheck(again, undefined)
    expect((await swapActions.dueActions(99_000, 9)).map(({ claim }) => claim)).toEqual([late.claim])
  })

  test('the refund address of a create is that of its request, whatever is reported of it', async () => {
    const { ledger, swapActions } = shared()
    const provider = unique('provider')
    const { refundAddress: _, ...withoutRefund } = requested
    const made = [
      ['x', { ...requested, refundAddress: 'rSent', refundExtraId: '7' }],
      ['y', { ...withoutRefund, refundAddress: 'rSent' }],
      ['z', withoutRefund],
    ] as const
    for (const [id, request] of made) {
      const create = intent({ provider, requested: request })
      await ledger.begin(create)
      await ledger.complete(create.id, facts(id, { refundAddress: 'rOther', refundExtraId: '8' }))
    }
    await ledger.upsert('owner', provider, facts('listed', { refundAddress: 'rOther' }))
    const found = await Promise.all(['x', 'y', 'z', 'listed', 'none'].map((id) => swapActions.readCreatedWith(provider, id)))
    expect(found).toEqual([{ refundAddress: 'rSent', refundExtraId: '7' }, { refundAddress: 'rSent' }, {}, {}, {}])
  })

  test('it goes with its swap', async () => {
    const { ledger, ledgerAdmin, swapActions } = await shared().openNew()
    await ledger.upsert('owner', 'alpha', facts('x', { status: 'success' }))
    await ledger.upsert('owner', 'alpha', facts('y'))
    for (const id of ['x', 'y']) await swapActions.claimAction(refund({ provider: 'alpha', id }))
    await ledgerAdmin.prune(Date.now(), 'tester')
    expect([await swapActions.readActions('alpha', 'x'), await swapActions.readActions('alpha', 'y')]).toMatchObject([
      [],
      [{ id: 'y' }],
    ])
  })
})
