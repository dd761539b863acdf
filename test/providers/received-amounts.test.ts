// Takes long: each real form in both directions.
/** docs/contract.md §3.10: a quote and a create by the amount that is to be received, at each real provider. */
import { afterEach, describe, expect, it } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { formNames } from '../support/pair.ts'
import { documented, providerNames } from './documented.ts'
import { createdStatus, type Rig, startRig } from './rig.ts'

const members = {
  A: { quoted: ['amount', 'amountTo'], created: ['amount', 'amountTo'] },
  B: { quoted: ['fromAmount', 'toAmount'], created: ['amount_in', 'amount_out_expected'] },
} as const

let rig: Rig
afterEach(() => rig[Symbol.asyncDispose]())

const shown = ([sent, received]: readonly [string, string], amounts: readonly [string, string]): object => ({
  [sent]: digits(amounts[0]),
  [received]: digits(amounts[1]),
})

describe.each(providerNames)('%s', (name) => {
  const { rateTypes, receivedRateTypes }: Pick<Rig['facts'], 'rateTypes' | 'receivedRateTypes'> = documented[name]
  const forms = formNames.flatMap((form) => receivedRateTypes.map((rateType) => [form, rateType] as const))

  it.each(forms)(
    'form %s, %s: what must be sent is what the provider says, and the amount has its digits',
    async (form, rateType) => {
      rig = await startRig(name)
      rig.exchange.market[rateType] = 12.5
      const quoted = await rig.quote(form, { rateType, amountTo: '2.500' })
      expect(quoted.status, quoted.text).toBe(200)
      const created = await rig.create(form, { rateType, amountTo: '2.500' })
      expect(created.status, created.text).toBe(createdStatus[form])
      const [swap, ...more] = rig.exchange.swaps
      expect(more).toEqual([])
      const sent = String(swap?.amountIn)
      expect(Number(sent)).toBeCloseTo(0.2, 3)
      expect(quoted.json).toMatchObject(shown(members[form].quoted, [sent, '2.500']))
      expect(created.json).toMatchObject(shown(members[form].created, [sent, '2.500']))
      const calls = rig.exchange.calls.filter(({ operation }) => operation === 'quote' || operation === 'create')
      const texts = calls.map(({ received }) => received.body || String(received.query))
      // A create at SideShift names only its quote.
      for (const text of texts.filter((call) => !call.includes('settleAddress'))) expect(text).toMatch(/\b2\.500\b/)
      expect(rig.drift()).toEqual([])
    },
  )

  it.each(rateTypes.filter((rateType) => !receivedRateTypes.includes(rateType)))(
    'not with the rate type %s: nothing is sent',
    async (rateType) => {
      rig = await startRig(name)
      for (const refused of [
        await rig.quote('A', { rateType, amountTo: '2.5' }),
        await rig.create('A', { rateType, amountTo: '2.5' }),
      ])
        expectRefusal(refused, 'A', 400, 'not_offered')
      expect([rig.exchange.received('quote'), rig.exchange.received('create')]).toEqual([[], []])
    },
  )

  it('amounts that are equal by value share a quote, each with its own digits', async () => {
    rig = await startRig(name, { sections: { cache: { currencies: 600, rate: 60, staleFor: 0 } }, steadyClock: () => 0 })
    const rateType = receivedRateTypes[0] as 'fixed' | 'float'
    const spellings = ['5', '5.0', '50e-1', '5.00']
    for (const amountTo of spellings)
      expect((await rig.quote('A', { rateType, amountTo })).json).toHaveProperty('amountTo', digits(amountTo))
    // A quote that carries the address of its user is nobody else's.
    const isShared = documented[name].addressHeader === undefined
    expect(rig.exchange.received('quote')).toHaveLength(isShared ? 1 : spellings.length)
  })

  it.each(formNames)('form %s: another amount to be received, and more to be sent than was quoted, are refused', async (form) => {
    rig = await startRig(name, { sections: { routing: { providers: ['alpha'], maxDeviation: 0.1, refuseDeviation: true } } })
    const rateType = receivedRateTypes[0] as 'fixed' | 'float'
    rig.exchange.market[rateType] = 12.5
    await rig.quote(form, { rateType, amountTo: '2.5' })
    for (const [known, other] of [
      ['2.5', '2.4'],
      ['0.2', '0.3'],
    ] as const) {
      rig.exchange.tamper = (operation, reply) =>
        operation === 'create' ? { ...reply, json: JSON.parse(JSON.stringify(reply.json).replaceAll(known, other)) } : undefined
      const refused = await rig.create(form, { rateType, amountTo: '2.5' })
      expectRefusal(refused, form, 502, 'mismatch')
      expect(refused.text).not.toContain(rig.exchange.swaps.at(-1)?.deposit)
    }
    expect(rig.exchange.swaps).toHaveLength(2)
  })
})

/** Its quotes show what must be sent, and its limits, also outside of them; to clients of Form B as a quote of nothing with a message. */
const showsLimits = (name: string): boolean => name === 'exolix'

describe.each(providerNames)('%s refuses an amount to be received', (name) => {
  const rateType = documented[name].receivedRateTypes[0] as 'fixed' | 'float'

  it.each(formNames)('form %s: no limit of the coin received is shown as one of the deposit', async (form) => {
    rig = await startRig(name)
    rig.exchange.market.float = 12.5
    rig.exchange.market.fixed = 12.5
    for (const [amountTo, reason] of [
      ['0.0125', 'below_minimum'],
      ['800', 'above_maximum'],
    ] as const) {
      const quoted = await rig.quote(form, { rateType, amountTo })
      if (showsLimits(name) && form === 'B') expect(quoted.text).toContain('"toAmount":0,"minAmount":0.002,"maxAmount":50,')
      else expectRefusal(quoted, form, 400, showsLimits(name) ? reason : 'refused')
      const created = await rig.create(form, { rateType, amountTo })
      expectRefusal(created, form, 400)
      expect(['refused', reason]).toContain(created.headers['x-swap-reason'])
      for (const { text, headers } of [quoted, created]) {
        expect(text).not.toMatch(/0\.025|625/)
        if (headers['x-swap-reason'] === 'refused') expect(text).not.toContain('"minAmount"')
        expect(text.replace('"minAmount":0.002,"maxAmount":50', '')).not.toMatch(/"m(?:in|ax)Amount"/)
      }
    }
    expect(rig.exchange.swaps).toEqual([])
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })
})

it('a quote of Changelly less its fee is one for another amount: nothing is created', async () => {
  rig = await startRig('changelly')
  rig.exchange.tamper = (operation, reply) =>
    operation === 'quote' ? { ...reply, json: JSON.parse(JSON.stringify(reply.json).replaceAll('2.5005', '2.5')) } : undefined
  expectRefusal(await rig.create('A', { rateType: 'fixed', amountTo: '2.5' }), 'A', 502, 'mismatch')
  expect(rig.exchange.swaps).toEqual([])
})

it('a fee that Changelly takes from the amount to be received is a mismatch, and no address is shown', async () => {
  rig = await startRig('changelly')
  rig.exchange.tamper = (operation, reply) =>
    operation === 'create' ? { ...reply, json: JSON.parse(JSON.stringify(reply.json).replace('2.5005', '2.5')) } : undefined
  const refused = await rig.create('A', { rateType: 'fixed', amountTo: '2.5' })
  expectRefusal(refused, 'A', 502, 'mismatch')
  expect(refused.text).not.toContain(rig.exchange.swaps[0]?.deposit)
})
