/** docs/contract.md §6, §16: what a real provider refuses has the right status, reason and limits for clients of both forms. */
import { describe, expect, it } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { formNames } from '../support/pair.ts'
import { type Documented, documented, providerNames } from './documented.ts'
import { assets, createdStatus, type Rig, startRig } from './rig.ts'
import type { Operation } from './stand-ins/exchange.ts'

const both = providerNames.flatMap((name) => formNames.map((form) => ({ name, form })))

describe.each(both)('$name, form $form', ({ name, form }) => {
  it.each([
    ['0.001', 'below_minimum', 'Minimum 0.002, maximum 50.'],
    ['51', 'above_maximum', 'Minimum 0.002, maximum 50.'],
  ] as const)('P3: a quote and a create of %s have the limits', async (amount, reason, limits) => {
    await using rig = await startRig(name)
    expect(expectRefusal(await rig.quote(form, { amount }), form, 400, reason)).toContain(limits)
    const fixed = await rig.create(form, { amount, rateType: 'fixed' })
    expect(expectRefusal(fixed, form, 400, reason)).toContain(limits)
    if (rig.facts.rateTypes.includes('float')) {
      const float = await rig.create(form, { amount, rateType: 'float' })
      expect(expectRefusal(float, form, 400, reason)).toContain(limits)
    }
    expect(rig.exchange.swaps).toEqual([])
    expect(rig.drift()).toEqual([])
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  it('a bad address is the client’s mistake', async () => {
    await using rig = await startRig(name, { provider: { addresses: 'unchecked' } })
    const body = { withdrawalAddress: 'bad' }
    const refused = await rig.create(form, { body })
    expectRefusal(refused, form, 400)
    expect(['address_invalid', 'refused']).toContain(refused.headers['x-swap-reason'])
    expect(rig.exchange.calls.at(-1)?.refused).toBe('address')
  })

  it('a pair that it does not have is not offered', async () => {
    await using rig = await startRig(name, { provider: { assets: { BTC: null } } })
    await rig.get(form, '/currencies')
    expectRefusal(await rig.quote(form, { from: assets.btc }), form, 400, 'not_offered')
    expectRefusal(await rig.create(form, { from: assets.btc }), form, 400, 'not_offered')
    expect([...rig.exchange.received('quote'), ...rig.exchange.received('create')]).toEqual([])
  })

  it('a pair that it refuses itself is refused, and nothing is doubtful', async () => {
    await using rig = await startRig(name)
    await rig.get(form, '/currencies')
    rig.exchange.close('eth')
    expectRefusal(await rig.quote(form), form, 400)
    expectRefusal(await rig.create(form), form, 400)
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  it('P5: a key that it refuses is the operator’s trouble, not the client’s', async () => {
    await using rig = await startRig(name)
    await rig.get(form, '/currencies')
    const { json } = await rig.create(form)
    rig.exchange.key = 'another-key'
    expectRefusal(await rig.quote(form), form, 502)
    expectRefusal(await rig.create(form), form, 502)
    const got = await rig.get(form, `/transactions/${(json as { id: string }).id}`)
    const isRefused = rig.facts.isGetKeyed && rig.facts.wrongKeyStatus === 401
    if (isRefused) expectRefusal(got, form, 502)
    else expect(got.status).toBe(200)
    // A 403 may be a firewall's: what is known is served, with its age.
    expect('x-swap-stale' in got.headers).toBe(rig.facts.isGetKeyed && !isRefused)
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  it('P4: a rate id that has expired is requested anew once, and is never the fault of the client', async () => {
    await using rig = await startRig(name)
    if (!rig.facts.hasRateIds) return
    rig.exchange.forgetsRateIds = true
    const order = { rateType: 'fixed', idempotencyKey: 'order-1' } as const
    expectRefusal(await rig.create(form, order), form, 502)
    expect(rig.exchange.calls.at(-1)?.refused).toBe('rateId')
    expect(rig.exchange.received('create')).toHaveLength(2)
    rig.exchange.forgetsRateIds = false
    expect((await rig.create(form, order)).status).toBe(createdStatus[form])
    expect(rig.exchange.swaps).toHaveLength(1)
  })

  if (documented[name].header !== undefined)
    it('an unknown transaction is not found', async () => {
      await using rig = await startRig(name, { mode: 'passthrough' })
      const got = await rig.get(form, '/transactions/alpha~6880e2730aee99')
      expectRefusal(got, form, 404)
    })
})

const float = { amount: '0.001', rateType: 'float', idempotencyKey: 'order-1' } as const

describe.each(
  providerNames.filter((name) => {
    const { hasLimitsInCreates, rateTypes }: Documented = documented[name]
    return !hasLimitsInCreates && rateTypes.includes('float')
  }),
)('%s refuses the amount of a create without its limits', (name) => {
  const limitsCall = documented[name].quoteCalls.at(-1) as Operation
  const callsOf = (rig: Rig): readonly string[] => rig.exchange.calls.map(({ operation }) => operation)

  it('P33: one call requests them, as a quote', async () => {
    await using rig = await startRig(name, {
      provider: { rateLimit: { quotes: 2, create: 0, read: 0 } },
      budgets: memoryBudgets(() => 0),
    })
    expectRefusal(await rig.create('A', float), 'A', 400, 'below_minimum')
    expect(callsOf(rig)).toEqual(['currencies', 'create', limitsCall])
    const withoutBudget = await rig.create('A', float)
    expect(expectRefusal(withoutBudget, 'A', 400, 'refused')).not.toContain('inimum 0')
    expect(callsOf(rig)).toEqual(['currencies', 'create', limitsCall, 'create'])
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  it('P33: a create within the limits costs no further call, nor does another refusal', async () => {
    await using rig = await startRig(name, { provider: { addresses: 'unchecked' } })
    expect((await rig.create('A', { rateType: 'float' })).status).toBe(201)
    expectRefusal(await rig.create('A', { rateType: 'float', body: { withdrawalAddress: 'bad' } }), 'A', 400)
    expect(callsOf(rig)).toEqual(['currencies', 'create', 'create'])
  })

  it.each([
    ['a failure', { status: 500, json: {} }],
    ['a refusal', { status: 400, json: { message: 'No' } }],
    ['another form', { status: 200, json: [] }],
  ])('P33: if the call gets %s, the refusal is relayed as it is, and the call is not repeated', async (_, reply) => {
    await using rig = await startRig(name)
    rig.exchange.tamper = (operation) => (operation === limitsCall ? reply : undefined)
    expectRefusal(await rig.create('A', float), 'A', 400, 'refused')
    expect(callsOf(rig)).toEqual(['currencies', 'create', limitsCall])
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  it('P33: if the call hangs, the client gets the refusal before the time is up, and the key is free', async () => {
    await using rig = await startRig(name, { provider: { timeout: 1 } })
    rig.exchange.delays[limitsCall] = 5_000
    expectRefusal(await rig.create('A', float), 'A', 400, 'refused')
    expect((await rig.create('A', { ...float, amount: '0.1' })).status).toBe(201)
  })

  it.runIf(documented[name].header)(
    'P33: with a key that the provider refuses for quotes, in passthrough mode, the create is refused all the same',
    async () => {
      await using rig = await startRig(name, { mode: 'passthrough' })
      rig.exchange.tamper = (operation) => (operation === limitsCall ? { status: 401, json: {} } : undefined)
      expectRefusal(await rig.create('A', float), 'A', 400, 'refused')
    },
  )
})

it('a limit that a provider does not have is no limit', async () => {
  for (const name of providerNames.filter((known) => documented[known].mayLackMaximum)) {
    await using rig = await startRig(name)
    rig.exchange.market.max = null
    const { status, json, text } = await rig.quote('A', { amount: '1000' })
    expect([name, status, text]).toEqual([name, 200, text])
    expect([name, json]).toEqual([name, expect.objectContaining({ minAmount: digits('0.002') })])
    expect([undefined, digits('0')]).toContainEqual((json as { maxAmount?: unknown }).maxAmount)
  }
})
