/** docs/contract.md §16, docs/contract-operators.md §10.2: a create whose response is lost is found again if the provider has a list; otherwise a start and `check` warn. */
import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { lookNow, outcomesOf } from '../support/outcomes.ts'
import { formNames } from '../support/pair.ts'
import { documented, providerNames } from './documented.ts'
import { assets, createdStatus, startRig } from './rig.ts'

const order = { idempotencyKey: 'order-1' } as const

describe.each(providerNames.filter((name) => documented[name].hasList))('%s', (name) => {
  it.each(formNames)('P1: is bound to its key, once, and returned to form %s', async (form) => {
    await using rig = await startRig(name)
    await rig.create(form, { amount: '0.3' }) // another of the same address
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create(form, order), form, 504)
    expectRefusal(await rig.create(form, order), form, 409)
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('found')
    const again = await rig.create(form, order)
    expect(again.status, again.text).toBe(createdStatus[form])
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.json).toMatchObject({ id: `alpha~${rig.exchange.swaps[1]?.id}` })
    expect(rig.exchange.received('create')).toHaveLength(2)
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
    expect(rig.drift()).toEqual([])
  })

  it('P1: a fixed one, with memos, is found the same', async () => {
    await using rig = await startRig(name)
    rig.exchange.losesNextCreate = true
    const fixed = { ...order, rateType: 'fixed', from: assets.eth, to: assets.xrp, body: { withdrawalExtraId: '12345' } } as const
    expectRefusal(await rig.create('A', fixed), 'A', 504)
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('found')
    expect((await rig.create('A', fixed)).status).toBe(201)
    expect(rig.exchange.swaps).toHaveLength(1)
  })

  it('two that are alike are bound to no create', async () => {
    await using rig = await startRig(name)
    for (const idempotencyKey of ['order-1', 'order-2']) {
      rig.exchange.losesNextCreate = true
      expectRefusal(await rig.create('A', { idempotencyKey }), 'A', 504)
    }
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).slice(-2)).toEqual(['ambiguous', 'ambiguous'])
    expectRefusal(await rig.create('A', order), 'A', 409)
  })

  it('is found among swaps in every status, which have all that comes with it', async () => {
    await using rig = await startRig(name)
    for (const [at] of rig.facts.statuses.entries()) await rig.create('A', { amount: `0.${at + 11}` })
    for (const [at, [status]] of rig.facts.statuses.entries())
      Object.assign(rig.exchange.swaps[at] ?? {}, { status, hashIn: '0xin', hashOut: '0xout', hasActions: at % 2 === 0 })
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create('A', order), 'A', 504)
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('found')
    expect((await rig.create('A', order)).json).toMatchObject({ id: `alpha~${rig.exchange.swaps.at(-1)?.id}` })
  })

  it('P1: is found among more than one page of others', async () => {
    await using rig = await startRig(name)
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create('A', order), 'A', 504)
    const [lost] = rig.exchange.swaps
    if (!lost) throw new Error('nothing was created')
    for (let number = 0; number < 250; number++) rig.exchange.swaps.push({ ...lost, id: `other${number}`, amountIn: 0.5 + number })
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('found')
    expect((await rig.create('A', order)).json).toMatchObject({ id: `alpha~${lost.id}` })
  })
})

describe('changenow, for a partner whose references it keeps', () => {
  it('two that are alike are each bound to their own', async () => {
    await using rig = await startRig('changenow')
    rig.exchange.keepsReferences = true
    for (const idempotencyKey of ['order-1', 'order-2']) {
      rig.exchange.losesNextCreate = true
      expectRefusal(await rig.create('A', { idempotencyKey }), 'A', 504)
    }
    const intents = (await rig.gateway.ledgerAdmin.unresolved()).map(({ intent }) => intent)
    expect(rig.exchange.swaps.map(({ reference }) => reference).toSorted()).toEqual(intents.toSorted())
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).slice(-2)).toEqual(['found', 'found'])
    const [first, second] = rig.exchange.swaps
    expect((await rig.create('A', order)).json).toMatchObject({ id: `alpha~${first?.id}` })
    expect((await rig.create('A', { idempotencyKey: 'order-2' })).json).toMatchObject({ id: `alpha~${second?.id}` })
    expect(rig.drift()).toEqual([])
  })

  it('the swap that another gateway of the account made is bound to nobody here', async () => {
    await using rig = await startRig('changenow')
    rig.exchange.keepsReferences = true
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create('A', order), 'A', 504)
    const [lost] = rig.exchange.swaps
    if (!lost) throw new Error('nothing was created')
    rig.exchange.swaps.splice(0, 1, { ...lost, id: 'foreign1', reference: crypto.randomUUID() })
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('notFound')
    expectRefusal(await rig.create('A', order), 'A', 409)
  })
})

describe.each(providerNames.filter((name) => !documented[name].hasList))('%s, which has no list', (name) => {
  it('P2: stays 409 and needs a person; no list is requested', async () => {
    await using rig = await startRig(name)
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create('A', order), 'A', 504)
    await lookNow(rig.gateway)
    expectRefusal(await rig.create('A', order), 'A', 409)
    expect(await rig.gateway.ledgerAdmin.unresolved()).toHaveLength(1)
    expect(rig.exchange.received('create')).toHaveLength(1)
    expect(rig.exchange.calls.filter(({ operation }) => operation === 'other' || operation === 'list')).toEqual([])
  })

  it('P34: nothing is looked for there, so no look fails', async () => {
    await using rig = await startRig(name)
    rig.exchange.losesNextCreate = true
    await rig.create('A', order)
    await lookNow(rig.gateway)
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway)).toEqual(['unknown'])
    const reads = rig.gateway.observations.filter((observation) => observation.what === 'budget' && observation.policy === 'read')
    expect(reads).toEqual([expect.objectContaining({ remaining: 108 })]) // that of the start
  })
})
