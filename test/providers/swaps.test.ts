/** docs/contract.md §16: a swap at each real provider, for clients of both forms. The stand-ins are written from the providers' documents. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { formNames } from '../support/pair.ts'
import { documented, providerNames } from './documented.ts'
import { addresses, assets, createdStatus, type Rig, startRig } from './rig.ts'

let rig: Rig
afterEach(async () => {
  expect(rig.drift()).toEqual([])
  await rig[Symbol.asyncDispose]()
})

interface Row {
  readonly code: string
}

interface Created {
  readonly id: string
  readonly depositAddress?: string
  readonly deposit_address?: string
}

const lackedByB: Readonly<Record<string, string>> = { confirmed: 'confirmation', sending: 'exchanging' }

describe.each(providerNames)('%s', (name) => {
  const forms = formNames.flatMap((form) => documented[name].rateTypes.map((rateType) => [form, rateType] as const))

  beforeEach(async () => {
    rig = await startRig(name)
  })

  it('has its assets in the words of clients', async () => {
    const { words } = rig.facts
    const a = (await rig.get('A', '/currencies?size=100')).json as { readonly data: readonly Row[] }
    const codes = a.data.map(({ code }) => code)
    expect(codes).toEqual(expect.arrayContaining(['BTC', ...Object.keys(words)]))
    expect(codes).toHaveLength(new Set(codes).size)
    const b = (await rig.get('B', '/currencies?size=100')).json as { readonly data: readonly Row[] }
    expect(b.data.map(({ code }) => code)).toEqual(expect.arrayContaining(['BTC', 'ETH', 'USDT', 'XRP']))
    expect(rig.exchange.calls.filter(({ refused }) => refused)).toEqual([])
  })

  it.each(forms)('quotes for form %s, %s', async (form, rateType) => {
    const { market } = rig.exchange
    const { status, json, text } = await rig.quote(form, { rateType, amount: '0.1' })
    expect(status, text).toBe(200)
    const expected = digits(String(Number((0.1 * market[rateType] - rig.facts.networkFee).toFixed(8))))
    const limits = { minAmount: digits('0.002'), maxAmount: digits('50') }
    const inA = { coinFrom: 'ETH', coinTo: 'USDTERC20', amount: digits('0.1'), amountTo: expected, rateType, ...limits }
    const inB = { fromAmount: digits('0.1'), toAmount: expected, ...limits }
    expect(json).toMatchObject(form === 'A' ? inA : inB)
    expect(rig.exchange.received('create')).toEqual([])
  })

  it.each(forms)('P7: creates for form %s, %s, with the quoted amount', async (form, rateType) => {
    await rig.quote(form, { rateType })
    rig.exchange.market[rateType] -= 1 // since then the rate is another
    const before = rig.exchange.calls.length
    const { status, json, text } = await rig.create(form, { rateType })
    expect(status, text).toBe(createdStatus[form])
    const [swap, ...more] = rig.exchange.swaps
    if (!swap) throw new Error('nothing was created')
    expect(more).toEqual([])
    expect(`${swap.from.coin} ${swap.from.network}`).toBe(rig.facts.words.ETH)
    expect(`${swap.to.coin} ${swap.to.network}`).toBe(rig.facts.words.USDTERC20)
    expect(swap).toMatchObject({ amountIn: 0.1, isFixed: rateType === 'fixed' })
    expect(swap).toMatchObject({ withdrawal: addresses.ETH, ...(rig.facts.takesRefund && { refund: addresses.ETH }) })
    const calls = rig.exchange.calls.slice(before).map(({ operation }) => operation)
    const isQuoted = rateType === 'fixed' && rig.facts.hasRateIds
    expect(calls.toSorted()).toEqual([...(isQuoted ? rig.facts.quoteCalls : []), 'create'].toSorted())
    expect(Boolean(swap.rateId)).toBe(isQuoted)
    const promised = digits(String(Number((swap.amountOut - rig.facts.networkFee).toFixed(8))))
    expect(swap.amountOut).toBe(Number((0.1 * rig.exchange.market[rateType]).toFixed(8)))
    const inA = { status: 'wait', amount: digits('0.1'), amountTo: promised, depositAddress: swap.deposit, rateType }
    const inB = { status: 'wait', amount_in: digits('0.1'), amount_out_expected: promised, deposit_address: swap.deposit }
    expect(json).toMatchObject(form === 'A' ? inA : inB)
    expect((json as Created).id).toBe(`alpha~${swap.id}`)
  })

  it.each(formNames)('P6: reports each status to form %s, and when a person is needed', async (form) => {
    const inForm = (status: string): string => (form === 'B' ? (lackedByB[status] ?? status) : status)
    for (const [word, status, attention] of rig.facts.statuses) {
      const { json } = await rig.create(form, { idempotencyKey: word })
      const { id } = json as Created
      const swap = rig.exchange.swaps.at(-1)
      if (!swap) throw new Error('nothing was created')
      // What failed keeps the last status that was known.
      const before = attention === 'failed' ? rig.facts.statuses.findLast(([, same, none]) => same === status && !none) : undefined
      if (before) {
        swap.status = before[0]
        expect((await rig.get(form, `/transactions/${id}`)).json).toMatchObject({ status: inForm(status) })
      }
      swap.status = word
      const got = await rig.get(form, `/transactions/${id}`)
      expect([word, got.status, (got.json as { status: string }).status]).toEqual([word, 200, inForm(status)])
      expect(got.headers['x-swap-attention'], word).toBe(attention)
      const isUnpaid = attention === 'failed' && status === 'wait'
      const shown = (got.json as Created).depositAddress ?? (got.json as Created).deposit_address
      expect(shown, word).toBe(isUnpaid ? undefined : swap.deposit)
    }
  })

  it('P36: the operator’s meaning of a word replaces the one of the form, final ones too, and is no deviation', async () => {
    const { dialect, statuses } = rig.facts
    const replaceable = statuses.filter(([word, status]) => word !== status && word !== dialect.firstStatus)
    const meanings = Object.fromEntries(
      replaceable.map(([word, status]) => [word, status === 'refunded' ? 'overdue' : 'refunded'] as const),
    )
    await using other = await startRig(name, { provider: { statuses: meanings } })
    for (const [word, meaning] of Object.entries(meanings)) {
      const { json } = await other.create('A', { idempotencyKey: word })
      Object.assign(other.exchange.swaps.at(-1) ?? {}, { status: word })
      const got = await other.get('A', `/transactions/${(json as Created).id}`)
      expect([word, (got.json as { status: string }).status]).toEqual([word, meaning])
      expect(got.headers['x-swap-attention'], word).toBeUndefined()
    }
    expect(other.drift()).toEqual([])
  })

  it('P36: a word that is a status itself keeps its meaning: another one is a configuration fault', async () => {
    const word = rig.facts.statuses.find(([known, status]) => known === status)?.[0]
    if (word === undefined) return
    const other = startRig(name, { provider: { statuses: { [word]: word === 'wait' ? 'success' : 'wait' } } })
    await expect(other).rejects.toThrow(`providers.alpha.statuses.${word}: cannot be changed: the form ${name} defines it`)
  })

  it.each(formNames)('lists for form %s', async (form) => {
    const { json } = await rig.create(form)
    await rig.create(form, { amount: '0.2' })
    const list = await rig.get(form, '/transactions?size=10')
    expect(list.status).toBe(200)
    expect((list.json as { data: readonly Created[] }).data.map(({ id }) => id)).toContain((json as Created).id)
    expect((list.json as { data: readonly Created[] }).data).toHaveLength(2)
  })

  it('carries memos in both directions', async () => {
    const out = await rig.create('A', { to: assets.xrp, body: { withdrawalExtraId: '12345' } })
    expect(out.status, out.text).toBe(201)
    expect(rig.exchange.swaps[0]).toMatchObject({ withdrawalMemo: '12345', withdrawal: addresses.XRP })
    const back = await rig.create('A', { from: assets.xrp, to: assets.eth, amount: '20', body: { refundExtraId: '678' } })
    expect(back.status, back.text).toBe(201)
    if (rig.facts.takesRefund) expect(rig.exchange.swaps[1]).toMatchObject({ refundMemo: '678', refund: addresses.XRP })
    expect(back.json).toMatchObject({ depositExtraId: rig.exchange.swaps[1]?.depositMemo })
  })

  it('a deposit address that is shared never reaches a client without its memo', async () => {
    rig.exchange.forgetsMemos = true
    const refused = await rig.create('A', { from: assets.xrp, to: assets.eth, amount: '20' })
    expectRefusal(refused, 'A', 502, 'mismatch')
    expect(refused.text).not.toContain(rig.exchange.swaps[0]?.deposit)
    expect(await rig.gateway.ledgerAdmin.unresolved()).toMatchObject([{ state: 'mismatch' }])
  })
})
