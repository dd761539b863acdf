// Takes long: hundreds of random amounts.
/** docs/contract.md §3.10: a quote and a create by the amount that is to be received. */
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { rateA, transactionA } from '../support/form-a.ts'
import { createdB, rateB } from '../support/form-b.ts'
import { digits, readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'
import { type FormName, formNames, type Pair, pairs, pairWords, startPair } from '../support/pair.ts'
import { assets, depositOf, swap } from '../support/swaps.ts'

const { btc, eth, usdtTrx } = assets
const takesIt = { alpha: { amountTo: true }, beta: { amountTo: true } }
const names = { A: { sent: 'amount', received: 'amountTo' }, B: { sent: 'fromAmount', received: 'toAmount' } } as const
const nameOf = { A: 'alpha', B: 'beta' } as const
const created = { A: 201, B: 200 } as const

let managed: Managed
afterEach(() => managed?.close())

const assetTable = [
  { coin: 'BTC', name: 'Bitcoin', networks: [{ network: 'BTC', code: 'BTC', decimals: 8 }] },
  { coin: 'USDT', name: 'Tether', networks: [{ network: 'TRX', code: 'USDTTRC20', decimals: 6 }] },
]

function queryOf(form: FormName, amountTo: string, more = ''): string {
  return `?${new URLSearchParams({ ...pairWords(form, btc, usdtTrx), amountTo })}${more}`
}

function orderOf(form: FormName, amountTo: string, facts: object = {}): object {
  return orderIn(form, { amount: undefined, amountTo: digits(amountTo), ...facts })
}

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider: side }) => {
  const start = async (providers: object = takesIt): Promise<string> => {
    const sections = {
      routing: { providers: [nameOf[side]] },
      auth: { mode: 'managed' },
    }
    managed = await startManaged({ assetTable, providers: providers as never, sections })
    return managed.issue()
  }
  const provider = () => managed[nameOf[side]]
  const quote = (amountTo: string, more?: string): Promise<ReceivedResponse> =>
    managed.client(form).get(`/rate${queryOf(form, amountTo, more)}`)
  const create = (
    key: string,
    amountTo: string,
    facts: object = {},
    headers: Record<string, string> = {},
  ): Promise<ReceivedResponse> => managed.client(form).post('/transactions', orderOf(form, amountTo, facts), { key, headers })

  test('it goes up as it was written, and comes back so, with what must be sent', async () => {
    const key = await start()
    const quoted = await quote('6543.2100')
    expect(quoted.status, quoted.text).toBe(200)
    expect(quoted.json).toMatchObject({ [names[form].sent]: digits('0.10'), [names[form].received]: digits('6543.2100') })
    expect(provider().received('rate').at(-1)?.query.get('amountTo')).toBe('6543.2100')
    expect(provider().received('rate').at(-1)?.query.has('amount')).toBe(false)
    const response = await create(key, '6543.210', { rateType: 'fixed' })
    expect(response.status, response.text).toBe(created[form])
    const [sent, received] = form === 'A' ? ['amount', 'amountTo'] : ['amount_in', 'amount_out_expected']
    expect(response.json).toMatchObject({ [sent as string]: digits('0.10'), [received as string]: digits('6543.210') })
    const body = readJson(provider().received('create').at(-1)?.body ?? '')
    expect(body).toMatchObject({ amountTo: digits('6543.210') })
    expect(body).not.toHaveProperty('amount')
  })

  test('a provider that does not take it is not asked: 400 not_offered, by its name', async () => {
    const key = await start({})
    for (const refused of [await quote('5'), await create(key, '5')]) {
      expect(expectRefusal(refused, form, 400, 'not_offered')).toBe(
        'Invalid amountTo: this swap is offered only by the amount that is sent.',
      )
    }
    expect([provider().received('rate'), provider().received('create')]).toEqual([[], []])
  })

  test('exactly one of both is needed', async () => {
    const key = await start()
    const both = 'Invalid amountTo: it is given beside amount; send only one of both.'
    expect(expectRefusal(await quote('5', '&amount=1'), form, 400, 'parameter_invalid')).toBe(both)
    expect(expectRefusal(await create(key, '5', { amount: 1 }), form, 400, 'parameter_invalid')).toBe(both)
    const none = await create(key, '5', { amountTo: undefined })
    expect(expectRefusal(none, form, 400, 'parameter_invalid')).toBe('Invalid amount: it is missing.')
    expect((await create(key, '5', { amount: '' })).status).toBe(created[form])
    expect(provider().received('create')).toHaveLength(1)
  })

  test('more decimals than the asset received has are refused, and nothing is sent', async () => {
    const key = await start()
    const refused = await create(key, '5.1234567')
    expect(expectRefusal(refused, form, 400, 'parameter_invalid')).toBe(
      'Invalid amountTo: USDT on the network TRX has 6 decimals: send 5.123456 or 5.123457.',
    )
    expect(provider().received('create')).toEqual([])
  })

  test('a repeat has the same response, and the same amount sent is another request', async () => {
    const key = await start()
    const headers = { 'idempotency-key': 'order-1' }
    const first = await create(key, '5', {}, headers)
    const repeated = await create(key, '5.00', {}, headers)
    expect([repeated.status, repeated.text, repeated.headers['idempotent-replayed']]).toEqual([first.status, first.text, 'true'])
    const other = await create(key, '5', { amountTo: undefined, amount: 5 }, headers)
    expectRefusal(other, form, 422, 'key_reused')
    expect(provider().received('create')).toHaveLength(1)
  })

  const shown = side === 'A' ? transactionA : createdB
  const [sentName, receivedName] = side === 'A' ? ['amount', 'amountTo'] : ['amount_in', 'amount_out_expected']
  test.each([
    ['another amount to be received', { [receivedName as string]: digits('4.9') }],
    ['nothing to be sent', { [sentName as string]: digits('0') }],
    ['less than nothing to be sent', { [sentName as string]: digits('-1') }],
  ])('a response with %s is a mismatch', async (_, facts) => {
    const key = await start()
    const own = swap({ amountOut: digits('5'), withdrawalAddress: 'TWithdraw1', refundAddress: null })
    provider().reply('create', { status: side === 'A' ? 201 : 200, json: { ...shown(own), ...facts } })
    expectRefusal(await create(key, '5'), form, 502, 'mismatch')
  })

  test('a response without the amount to be received has the requested one, and is no mismatch', async () => {
    const key = await start()
    const own = { ...shown(swap({ withdrawalAddress: 'TWithdraw1', refundAddress: null })), [receivedName as string]: digits('0') }
    provider().reply('create', { status: side === 'A' ? 201 : 200, json: own })
    const response = await create(key, '5.0')
    expect(response.status, response.text).toBe(created[form])
    expect(response.json).toHaveProperty(form === 'A' ? 'amountTo' : 'amount_out_expected', digits('5.0'))
  })

  test('a provider that writes it with other digits: the response has those of the request', async () => {
    const key = await start()
    const rate = side === 'A' ? rateA : rateB
    provider().reply('rate', ({ query }) => ({ json: { ...rate(query), [names[side].received]: digits('5') } }))
    provider().reply('create', () => ({
      status: created[side],
      json: shown(swap({ amountOut: digits('5'), withdrawalAddress: 'TWithdraw1', refundAddress: null })),
    }))
    expect((await quote('5.00')).json).toHaveProperty(names[form].received, digits('5.00'))
    const receivedMember = form === 'A' ? 'amountTo' : 'amount_out_expected'
    expect((await create(key, '5.00')).json).toHaveProperty(receivedMember, digits('5.00'))
  })

  test('a lost create is found by it', async () => {
    const key = await start()
    const headers = { 'idempotency-key': 'order-2' }
    const facts = { refundAddress: 'bc1q-refund-9' }
    loseResponses(provider())
    expectRefusal(await create(key, '5', facts, headers), form, 504)
    const [lost] = provider().holdings.swaps
    expect(lost).toBeDefined()
    const other = { ...(lost as object), id: 'tx-9', amountOut: digits('6') } as never
    provider().holdings.swaps = [...provider().holdings.swaps, other]
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('found')
    const repeated = await create(key, '5', facts, headers)
    expect(repeated.json, repeated.text).toHaveProperty('id', `${nameOf[side]}~${lost?.id}`)
  })
})

describe.each(formNames)('client %s, two providers', (form) => {
  const start = async (sections: object = {}, providers: object = takesIt): Promise<string> => {
    const routing = ['alpha', 'beta']
    managed = await startManaged({
      routing,
      providers: providers as never,
      sections: { routing: { providers: routing, ...sections }, auth: { mode: 'managed' } },
    })
    return managed.issue()
  }
  const answer = (alpha: string, beta: string): void => {
    managed.alpha.reply('rate', ({ query }) => ({ json: { ...rateA(query), amount: digits(alpha) } }))
    managed.beta.reply('rate', ({ query }) => ({ json: { ...rateB(query), fromAmount: digits(beta) } }))
  }

  test('one that does not take it is passed over', async () => {
    const key = await start({}, { beta: { amountTo: true } })
    const quoted = await managed.client(form).get(`/rate${queryOf(form, '5')}`)
    const made = await managed.client(form).post('/transactions', orderOf(form, '5'), { key })
    expect([quoted, made].map(({ headers }) => headers['x-swap-provider'])).toEqual(['beta', 'beta'])
    expect([managed.alpha.received('rate'), managed.alpha.received('create')]).toEqual([[], []])
  })

  test.each([
    ['0.1', '0.0999999999999999999', 'beta'],
    ['0.1', '0.10', 'alpha'],
    ['0', '0.2', 'beta'],
  ])('under best the least that must be sent wins: %s and %s', async (alpha, beta, winner) => {
    const key = await start({ strategy: 'best' })
    answer(alpha, beta)
    const quoted = await managed.client(form).get(`/rate${queryOf(form, '5')}`, { key })
    const made = await managed.client(form).post('/transactions', orderOf(form, '5'), { key })
    expect([quoted, made].map(({ headers }) => headers['x-swap-provider'])).toEqual([winner, winner])
  })

  test('the quotes of all providers begin with the least that must be sent', async () => {
    const key = await start({ pick: ['alpha', 'beta'] })
    answer('0.2', '0.1')
    const { json } = await managed.client(form).get(`/rates${queryOf(form, '5')}`, { key })
    expect((json as { rates: { provider: string }[] }).rates.map(({ provider }) => provider)).toEqual(['beta', 'alpha'])
  })

  test('a create that asks for much more than the newest quote is refused with refuseDeviation', async () => {
    const key = await start({ maxDeviation: 0.1, refuseDeviation: true })
    answer('0.08', '0.08')
    await managed.client(form).get(`/rate${queryOf(form, '5')}`, { key })
    expectRefusal(await managed.client(form).post('/transactions', orderOf(form, '5'), { key }), form, 502, 'mismatch')
    answer('0.099', '0.08')
    await managed.client(form).get(`/rate${queryOf(form, '5.5')}`, { key })
    expect((await managed.client(form).post('/transactions', orderOf(form, '5.5'), { key })).status).toBe(created[form])
  })
})

describe.each(pairs)('any amount: client $client, provider $provider', ({ client: form, provider: side }) => {
  test('random creates by the amount to be received keep its digits', async () => {
    const pair: Pair = await startPair(form, side, {
      provider: { amountTo: true },
      sections: { limits: { quotes: 100_000, create: 100_000, read: 100_000 } },
    })
    const decimals = fc.stringMatching(/^(?:0|[1-9][0-9]{0,12})(?:\.[0-9]{0,17}[1-9]0{0,2})$/).filter((text) => Number(text) > 0)
    try {
      await fc.assert(
        fc.asyncProperty(decimals, decimals, fc.boolean(), async (amountTo, amount, asText) => {
          const make = side === 'A' ? transactionA : createdB
          pair.provider.reply('create', ({ body }) => {
            const id = crypto.randomUUID()
            const { rateType } = readJson(body) as { rateType: string }
            const made = swap({ to: eth, amountIn: digits(amount), amountOut: digits(amountTo), withdrawalAddress: 'w', rateType })
            return { status: created[side], json: make({ ...made, id, depositAddress: depositOf(id), refundAddress: null }) }
          })
          const order = { ...pairWords(form, btc, eth), amountTo: asText ? amountTo : digits(amountTo), withdrawalAddress: 'w' }
          const response = await pair.client.post('/transactions', order)
          expect(response.status, response.text).toBe(created[form])
          expect(readJson(pair.provider.received('create').at(-1)?.body ?? '')).toHaveProperty('amountTo', digits(amountTo))
          const [sent, received] = form === 'A' ? ['amount', 'amountTo'] : ['amount_in', 'amount_out_expected']
          expect(response.json).toMatchObject({ [sent as string]: digits(amount), [received as string]: digits(amountTo) })
          pair.provider.reset()
        }),
        { numRuns: 60 },
      )
    } finally {
      await pair.close()
    }
  }, 120_000)
})
