/** Providers with one account are one for ids (docs/contract.md §4): an id belongs to one create over all their tags. */
import { expect, test } from 'vitest'
import type { Intent } from '../../src/core/ports/ledger.ts'
import type { OpenLedger } from '../../src/ledger/index.ts'
import { facts, intent, unique } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const swap = () => facts('x', { status: 'success' })

/** Three tags: two of one account, and one of another. */
async function rig({ tags }: Pick<OpenLedger, 'tags'>) {
  const [eu, us, other, account] = [unique('eu'), unique('us'), unique('other'), unique('account')]
  const of = (tag: string, word: string) => ({ tag, form: 'A', url: `https://${tag}.test`, account: word })
  await tags.save([of(eu, account), of(us, account), of(other, other)])
  return { eu, us, other }
}

async function begun({ ledger }: Pick<OpenLedger, 'ledger'>, provider: string): Promise<Intent> {
  const made = intent({ owner: unique('owner'), provider })
  await ledger.begin(made)
  return made
}

describeStores(allStores, (shared) => {
  test('L152: a result with an id that another tag of the account has is a mismatch; another account may have it', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { eu, us, other } = await rig(shared())
    expect(await ledger.complete((await begun(shared(), eu)).id, facts('x'))).toBe(true)
    const second = await begun(shared(), us)
    expect(await ledger.complete(second.id, facts('x'))).toBe(false)
    expect(await ledgerAdmin.unresolved()).toContainEqual(
      expect.objectContaining({
        intent: second.id,
        state: 'mismatch',
        reported: expect.objectContaining({ id: 'x', fields: ['id'] }),
      }),
    )
    expect(await ledger.complete((await begun(shared(), other)).id, facts('x', { depositAddress: 'of-another' }))).toBe(true)
  })

  test('L152: two tags with one URL are one, as where a provider got another name and tag', async () => {
    const { ledger, tags } = shared()
    const [before, after] = [unique('before'), unique('after')]
    const url = `https://${before}.test/api`
    await tags.save([before, after].map((tag) => ({ tag, form: 'A', url, account: tag })))
    const made = [await begun(shared(), before), await begun(shared(), after)]
    expect(await ledger.unresolvedBetween(after, 0, Date.now() + 1_000)).toHaveLength(2)
    expect(await ledger.complete(made[0]?.id ?? '', facts('x'))).toBe(true)
    expect(await ledger.bindFound(made[1]?.id ?? '', facts('x'))).toBe(false)
  })

  test('W22: what an owner has elsewhere comes with which tags are of one account', async () => {
    const { ledger } = shared()
    const { eu, us, other } = await rig(shared())
    const owner = unique('owner')
    for (const tag of [eu, us, other]) await ledger.upsert(owner, tag, facts('x'))
    const { entries, isOneAccount } = await ledger.listElsewhere(owner, other, 9)
    expect(entries.map(({ provider }) => provider).toSorted()).toEqual([eu, us].toSorted())
    expect([isOneAccount(eu, us), isOneAccount(eu, other), isOneAccount('gone', 'gone')]).toEqual([true, false, true])
  })

  test('L152: neither reconciliation nor a person binds it, and a mismatch does not take it', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { eu, us } = await rig(shared())
    await ledger.complete((await begun(shared(), eu)).id, facts('x'))
    const second = await begun(shared(), us)
    expect(await ledger.bindFound(second.id, facts('x'))).toBe(false)
    expect(await ledgerAdmin.bind(second.id, 'x', Date.now(), undefined, 'tester')).toBe('taken')
    await ledger.markMismatch(second.id, facts('x').transaction, ['amountIn'])
    const third = await begun(shared(), us)
    expect(await ledger.complete(third.id, facts('y'))).toBe(true)
    expect(await ledger.existingIds(us, ['x', 'y', 'z'])).toEqual(new Set(['x', 'y']))
  })

  test('L152: what another tag of the account only read blocks nothing', async () => {
    const { ledger } = shared()
    const { eu, us } = await rig(shared())
    await ledger.upsert(unique('reader'), eu, facts('x'))
    expect(await ledger.existingIds(us, ['x'])).toEqual(new Set())
    expect(await ledger.complete((await begun(shared(), us)).id, facts('x'))).toBe(true)
  })

  test('L152: also after its transaction was pruned', async () => {
    const store = await shared().openNew()
    const { eu, us } = await rig(store)
    await store.ledger.complete((await begun(store, eu)).id, swap())
    await store.ledgerAdmin.prune(Date.now() + 86_400_000_000, 'tester')
    expect(await store.ledger.existingIds(us, ['x'])).toEqual(new Set(['x']))
    expect(await store.ledger.complete((await begun(store, us)).id, facts('x'))).toBe(false)
  })

  test('L152: a swap with the same id and deposit address is bound to no other create, whatever its account', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { eu, other } = await rig(shared())
    await ledger.complete((await begun(shared(), eu)).id, facts('x'))
    const second = await begun(shared(), other)
    expect(await ledger.bindFound(second.id, facts('x'))).toBe(false)
    expect(await ledgerAdmin.bind(second.id, 'x', Date.now(), facts('x'), 'tester')).toBe('taken')
    expect(await ledger.bindFound(second.id, facts('x', { depositAddress: 'another' }))).toBe(true)
  })

  test('L152: also in another spelling of the address; with another memo it is another swap', async () => {
    const { ledger } = shared()
    const { eu, other } = await rig(shared())
    const depositAddress = '0x52908400098527886e0f7030069857d2e4169ee7'
    await ledger.complete((await begun(shared(), eu)).id, facts('x', { depositAddress }))
    const second = await begun(shared(), other)
    const spelled = facts('x', { depositAddress: depositAddress.toUpperCase().replace('0X', '0x') })
    expect(await ledger.bindFound(second.id, spelled)).toBe(false)
    await ledger.complete((await begun(shared(), eu)).id, facts('y', { depositAddress: 'rShared', depositExtraId: '7' }))
    expect(await ledger.bindFound(second.id, facts('y', { depositAddress: 'rShared' }))).toBe(false)
    expect(await ledger.bindFound(second.id, facts('y', { depositAddress: 'rShared', depositExtraId: '8' }))).toBe(true)
  })

  test('a mismatch of one tag is one of all tags of its account', async () => {
    const { ledger } = shared()
    const { eu, us, other } = await rig(shared())
    await ledger.markMismatch((await begun(shared(), eu)).id, facts('x').transaction, ['amountIn'])
    expect(await ledger.mismatchedIds(us, ['x', 'y'])).toEqual(new Set(['x']))
    expect(await ledger.mismatchedIds(other, ['x', 'y'])).toEqual(new Set())
  })

  test('which ids are swaps, and whose, counts over all its tags', async () => {
    const { ledger } = shared()
    const { eu, us, other } = await rig(shared())
    const [first, second] = [await begun(shared(), eu), await begun(shared(), eu)]
    await ledger.complete(first.id, facts('x'))
    await ledger.markMismatch(second.id, facts('y').transaction, ['amountIn'])
    const named = ['x', 'y', 'z']
    expect(await ledger.swapsNamed(first.owner, us, named)).toEqual(
      new Map([
        ['x', true],
        ['y', false],
      ]),
    )
    expect(await ledger.swapsNamed(second.owner, eu, named)).toEqual(
      new Map([
        ['x', false],
        ['y', false],
      ]),
    )
    expect(await ledger.swapsNamed(first.owner, other, named)).toEqual(new Map())
    expect(await ledger.swapsNamed(first.owner, eu, [])).toEqual(new Map())
  })

  test('L152: unresolved creates of all its tags compete', async () => {
    const { ledger } = shared()
    const { eu, us, other } = await rig(shared())
    const made = [await begun(shared(), eu), await begun(shared(), us), await begun(shared(), other)]
    const between = async (tag: string) =>
      (await ledger.unresolvedBetween(tag, 0, Date.now() + 1_000)).map(({ intent: id }) => id).toSorted()
    const ofAccount = made.slice(0, 2).map(({ id }) => id)
    expect(await between(us)).toEqual(ofAccount.toSorted())
    expect(await between(other)).toEqual(made.slice(2).map(({ id }) => id))
    const elsewhere = (await ledger.unresolvedElsewhere(other, 0, Date.now() + 1_000)).map(({ intent: id }) => id)
    expect(elsewhere).toEqual(expect.arrayContaining(ofAccount))
    expect(elsewhere).not.toContain(made[2]?.id)
  })
})

describeStores(durableStores, (shared) => {
  test('L152: of two results at once one gets the id', async () => {
    const store = await shared().openNew()
    const { eu, us } = await rig(store)
    for (let times = 0; times < 10; times++) {
      const creates = [await begun(store, eu), await begun(store, us)]
      const results = await Promise.all(creates.map(({ id }) => store.ledger.complete(id, facts(`x-${times}`))))
      expect(results.toSorted()).toEqual([false, true])
    }
  })
})
