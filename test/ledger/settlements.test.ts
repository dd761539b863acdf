/** docs/contract-operators.md §15: what a person may confirm, and whose each unresolved create is and why, in both stores. */
import { expect, test } from 'vitest'
import type { SettlementPlan } from '../../src/core/ports/ledger-admin.ts'
import { facts, intent, unique } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

const plan: SettlementPlan = { outcome: 'none', note: 'ticket 7', rows: [{ id: 'one', seen: 'false' }] }

describeStores(allStores, (shared) => {
  test('a plan is found again with how far it is, which never goes back', async () => {
    const { ledgerAdmin } = shared()
    const id = unique('1')
    expect(await ledgerAdmin.findPlan(id)).toBeUndefined()
    for (let time = 0; time < 2; time++) await ledgerAdmin.savePlan(id, plan)
    expect(await ledgerAdmin.findPlan(id)).toEqual({ plan, position: 0 })
    await Promise.all([100, 300, 200].map((position) => ledgerAdmin.advancePlan(id, position)))
    expect(await ledgerAdmin.findPlan(id)).toEqual({ plan, position: 300 })
  })

  test('an unresolved create has its account, and why its outcome is unknown', async () => {
    const { ledger, ledgerAdmin, accounts } = shared()
    const provider = unique('provider')
    const name = unique('acme')
    await accounts.addKey({ id: name, name, createdAt: 1 }, name, 'tester')
    const account = (await accounts.findKeys([name])).get(name)?.identity ?? ''
    const made = [intent({ owner: account, provider }), intent({ provider }), intent({ provider }), intent({ provider })] as const
    for (const one of made) await ledger.begin(one)
    await ledger.markUnknown(made[0].id, 5, 'timed_out')
    await ledger.markUnknown(made[1].id, 5)
    await ledger.markMismatch(made[2].id, facts(unique('x')).transaction, ['coinTo'])
    const found = async () => Promise.all(made.map(({ id }) => ledgerAdmin.findUnresolved(id)))
    expect((await found()).map((each) => [each?.state, each?.account, each?.unknownReason])).toEqual([
      ['unknown', name, 'timed_out'],
      ['unknown', undefined, undefined],
      ['mismatch', undefined, undefined],
      ['pending', undefined, undefined],
    ])
    const due = (await ledger.dueCreates(Date.now() + 60_000, 1_000, undefined)).filter((create) => create.provider === provider)
    for (const create of due) await ledger.scheduleNextCheck(create, Date.now() + 60_000)
    expect((await found()).map((each) => [each?.state, each?.unknownReason])).toEqual([
      ['unknown', 'timed_out'],
      ['unknown', undefined],
      ['mismatch', undefined],
      ['unknown', 'interrupted'],
    ])
  })

  test('a decision about a create counts only while that is what was judged', async () => {
    const { ledger, ledgerAdmin, audit } = shared()
    const [provider, judgement] = [unique('provider'), { isMismatch: false, account: 'acme', reason: 'reset', note: 'ticket 7' }]
    const [open, wrong] = [intent({ provider }), intent({ provider })]
    for (const { id } of [open, wrong]) {
      await ledger.begin(id === open.id ? open : wrong)
      await ledger.markUnknown(id, 5, 'reset')
    }
    await ledger.markMismatch(wrong.id, facts(unique('x')).transaction, ['coinTo'])
    expect(await ledgerAdmin.markNotCreated(wrong.id, 'alice', judgement)).toBe(false)
    expect(await ledgerAdmin.bind(wrong.id, unique('y'), 5, undefined, 'alice', judgement)).toBe('missing')
    expect(await ledgerAdmin.findUnresolved(wrong.id)).toMatchObject({ state: 'mismatch' })
    expect(await ledgerAdmin.markNotCreated(open.id, 'alice', judgement)).toBe(true)
    const records = (await audit.read({})).filter(({ subject }) => [open.id, wrong.id].includes(subject))
    expect(records).toMatchObject([
      {
        actor: 'alice',
        subject: open.id,
        before: { provider, state: 'unknown', account: 'acme', reason: 'reset' },
        after: { bound: null, note: 'ticket 7' },
      },
    ])
  })
})
