/** docs/contract.md §3.1, docs/contract-operators.md §12: what the rows of a provider's list offer: a direction or a type of rate that is off is not offered, and not asked for. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { currenciesA, startFormA } from '../support/form-a.ts'
import { startGateway } from '../support/gateway.ts'
import { digits } from '../support/json.ts'
import { client, type FormName, formNames, pairWords } from '../support/pair.ts'
import type { Received } from '../support/stand-in.ts'
import { type AssetWords, assets } from '../support/swaps.ts'

const { btc, eth, usdtTrx } = assets
const created = { A: 201, B: 200 } as const
const words = {
  A: { canDeposit: 'canDeposit', canWithdraw: 'canWithdraw', fixedRate: 'fixedRate' },
  B: { canDeposit: 'can_deposit', canWithdraw: 'can_withdraw', fixedRate: 'fixed_rate' },
} as const
const address = { BTC: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', TRX: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' } as Record<
  string,
  string
>

const pathOfPair = {
  A: (from: AssetWords, to: AssetWords) => `/pairs/${from.code}/${to.code}`,
  B: (from: AssetWords, to: AssetWords) => `/pairs/${from.coin}/${to.coin}?networkFrom=${from.network}&networkTo=${to.network}`,
}

type Name = 'alpha' | 'gamma'
type Flags = Readonly<Record<string, unknown>>

/** Rows in which BTC has these flags. */
function rowsWith(flags: Flags): readonly object[] {
  return currenciesA.map((row) => ((row as { code: string }).code === 'BTC' ? { ...row, ...flags } : row))
}

let close: () => Promise<unknown>
afterEach(() => close())

async function start(flags: Partial<Record<Name, Flags>>, routing: object = {}, lifetime = 600) {
  const providers = { alpha: await startFormA(), gamma: await startFormA() }
  const setFlags = (name: Name, own: Flags): void => {
    providers[name].holdings.currencies = rowsWith(own)
  }
  for (const name of ['alpha', 'gamma'] as const) setFlags(name, flags[name] ?? {})
  const list = Object.keys(flags)
  const gateway = await startGateway({
    provider: { name: 'alpha', form: 'A', url: providers.alpha.url, key: 'key-alpha' },
    others: { gamma: { form: 'A', url: providers.gamma.url, key: 'key-gamma' } },
    sections: {
      auth: { mode: 'managed' },
      cache: { currencies: lifetime, rate: 0, staleFor: 600 },
      ledger: { refreshAfter: 0 },
      routing: { providers: list, pick: list, ...routing },
    },
  })
  close = async () => {
    await gateway.close()
    await Promise.all([providers.alpha.close(), providers.gamma.close()])
  }
  const key = await gateway.issueKey('acme')
  const of = (form: FormName) => client(form, gateway.url)
  return {
    setFlags,
    sent: (name: Name): readonly Received[] => [...providers[name].received('rate'), ...providers[name].received('create')],
    quote: (form: FormName, from: AssetWords, to: AssetWords, more: Record<string, string> = {}) =>
      of(form).get(`/rate?${new URLSearchParams({ ...pairWords(form, from, to), amount: '5', ...more })}`, { key }),
    create: (form: FormName, from: AssetWords, to: AssetWords, more: object = {}, headers: Record<string, string> = {}) =>
      of(form).post(
        '/transactions',
        { ...pairWords(form, from, to), amount: digits('5'), withdrawalAddress: address[to.network], ...more },
        { key, headers },
      ),
    get: (form: FormName, path: string) => of(form).get(path, { key }),
    /** The row of BTC; undefined if it is not listed. */
    async listed(form: FormName): Promise<Record<string, unknown> | undefined> {
      const { json } = await of(form).get('/currencies?search=BTC')
      return (json as { data: readonly Record<string, unknown>[] }).data[0]
    },
  }
}

const off = { canDeposit: [btc, usdtTrx], canWithdraw: [usdtTrx, btc] } as const
const messages = {
  canDeposit: 'Invalid coinFrom: it cannot be sent here at the moment.',
  canWithdraw: 'Invalid coinTo: it cannot be received here at the moment.',
}

describe.each(formNames)('form %s', (form) => {
  describe.each(['canDeposit', 'canWithdraw'] as const)('%s: false', (flag) => {
    const [from, to] = off[flag]

    test('neither quotes nor creates of that direction go up; the other direction does', async () => {
      const market = await start({ alpha: { [flag]: false } })
      expect(expectRefusal(await market.quote(form, from, to), form, 400, 'not_offered')).toBe(messages[flag])
      expect(expectRefusal(await market.create(form, from, to), form, 400, 'not_offered')).toBe(messages[flag])
      expect(market.sent('alpha')).toEqual([])
      expect((await market.quote(form, to, from)).status).toBe(200)
      expect((await market.create(form, to, from)).status).toBe(created[form])
    })

    test.each(['priority', 'best'])('%s asks the others, and not this one', async (strategy) => {
      const market = await start({ alpha: { [flag]: false }, gamma: {} }, { strategy })
      const quoted = await market.quote(form, from, to)
      expect([quoted.status, quoted.headers['x-swap-provider']]).toEqual([200, 'gamma'])
      const response = await market.create(form, from, to)
      expect([response.status, response.headers['x-swap-provider']]).toEqual([created[form], 'gamma'])
      expect(market.sent('alpha')).toEqual([])
    })

    test('the coin is listed, and its row says so', async () => {
      const market = await start({ alpha: { [flag]: false } })
      expect(await market.listed(form)).toMatchObject({ [words[form][flag]]: false })
    })
  })

  test('a pair in a direction that is off is not offered; its reverse is', async () => {
    const market = await start({ alpha: { canDeposit: false } })
    const directions = async (from: AssetWords, to: AssetWords): Promise<unknown> => {
      const { json } = await market.get(form, pathOfPair[form](from, to))
      return (json as { directions: unknown }).directions
    }
    expect(await directions(btc, usdtTrx)).toEqual({ forward: false, reverse: true })
    expect(await directions(usdtTrx, btc)).toEqual({ forward: true, reverse: false })
  })

  test('without a fixed rate of either coin the refusal names rateType, and a floating one is offered', async () => {
    const market = await start({ alpha: { fixedRate: false } })
    for (const [from, to] of [off.canDeposit, off.canWithdraw]) {
      for (const refused of [
        await market.quote(form, from, to, { rateType: 'fixed' }),
        await market.create(form, from, to, { rateType: 'fixed' }),
      ]) {
        expect(expectRefusal(refused, form, 400, 'not_offered')).toBe('Invalid rateType: this swap is offered only with float.')
      }
    }
    expect(market.sent('alpha')).toEqual([])
    expect((await market.quote(form, btc, usdtTrx)).status).toBe(200)
    expect((await market.quote(form, eth, usdtTrx, { rateType: 'fixed' })).status).toBe(200)
  })

  test('the next provider has the fixed rate that the first one lacks', async () => {
    const market = await start({ alpha: { fixedRate: false }, gamma: {} })
    const response = await market.create(form, btc, usdtTrx, { rateType: 'fixed' })
    expect([response.status, response.headers['x-swap-provider']]).toEqual([created[form], 'gamma'])
    expect(market.sent('alpha')).toEqual([])
  })

  test('a coin that no provider takes in or pays out is not listed; one that any provider does is', async () => {
    const none = { canDeposit: false, canWithdraw: false }
    const market = await start({ alpha: none, gamma: none })
    expect(await market.listed(form)).toBeUndefined()
    await close()
    const other = await start({ alpha: none, gamma: {} })
    expect(await other.listed(form)).not.toHaveProperty(words[form].canDeposit)
  })

  test('the row has what any provider has', async () => {
    const said = { canDeposit: false, canWithdraw: true, fixedRate: false }
    const market = await start({ alpha: said, gamma: { canDeposit: true, canWithdraw: false, fixedRate: false } })
    expect(await market.listed(form)).toMatchObject({
      [words[form].canDeposit]: true,
      [words[form].canWithdraw]: true,
      [words[form].fixedRate]: false,
    })
  })

  test.each([
    ['nothing', {}],
    ['null', { canDeposit: null, canWithdraw: null, fixedRate: null }],
    ['what is no flag', { canDeposit: 'no', canWithdraw: 0, fixedRate: [] }],
  ])('%s says nothing: all is on', async (_, flags) => {
    const market = await start({ alpha: flags })
    for (const [from, to] of [off.canDeposit, off.canWithdraw])
      expect((await market.create(form, from, to, { rateType: 'fixed' })).status).toBe(created[form])
    const row = await market.listed(form)
    for (const name of Object.values(words[form])) expect(row).not.toHaveProperty(name)
  })

  test('a provider that the client chooses is not asked either, and no other is', async () => {
    const market = await start({ alpha: { canDeposit: false }, gamma: {} })
    const headers = { 'x-swap-provider': 'alpha' }
    expectRefusal(await market.create(form, btc, usdtTrx, {}, headers), form, 400, 'not_offered')
    expect([market.sent('alpha'), market.sent('gamma')]).toEqual([[], []])
  })

  test('a create that is repeated with its key after its direction went off has the same response', async () => {
    const market = await start({ alpha: {} }, {}, 0.1)
    const headers = { 'idempotency-key': 'one' }
    const first = await market.create(form, btc, usdtTrx, {}, headers)
    expect(first.status).toBe(created[form])
    market.setFlags('alpha', { canDeposit: false })
    await expect.poll(() => market.quote(form, btc, usdtTrx).then(({ status }) => status)).toBe(400)
    const repeated = await market.create(form, btc, usdtTrx, {}, headers)
    expect([repeated.status, repeated.json]).toEqual([first.status, first.json])
    expectRefusal(await market.create(form, btc, usdtTrx, {}, { 'idempotency-key': 'two' }), form, 400, 'not_offered')
  })

  test('flags count from the next reading of the list on; open swaps go on', async () => {
    const market = await start({ alpha: {} }, {}, 0.1)
    const open: ReceivedResponse = await market.create(form, btc, usdtTrx)
    const { id } = open.json as { id: string }
    const statusOf = () => market.create(form, btc, usdtTrx).then(({ status }) => status)
    market.setFlags('alpha', { canDeposit: false, canWithdraw: false, fixedRate: false })
    await expect.poll(statusOf).toBe(400)
    const asked = market.sent('alpha').length
    expectRefusal(await market.quote(form, btc, usdtTrx), form, 400, 'not_offered')
    expect(market.sent('alpha')).toHaveLength(asked)
    const get = await market.get(form, `/transactions/${id}`)
    expect([get.status, get.json]).toEqual([200, expect.objectContaining({ id, status: 'wait' })])
    const list = await market.get(form, '/transactions')
    expect((list.json as { data: readonly object[] }).data).toContainEqual(expect.objectContaining({ id }))
    market.setFlags('alpha', {})
    await expect.poll(statusOf).toBe(created[form])
  })
})
