/** docs/contract-operators.md §12: a code that the asset table lacks, at several providers. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { startFormA } from '../support/form-a.ts'
import { startFormB } from '../support/form-b.ts'
import { type StartedGateway, startGateway } from '../support/gateway.ts'
import { digits } from '../support/json.ts'
import { client, type FormName, formNames } from '../support/pair.ts'
import type { Received } from '../support/stand-in.ts'

const icon = 'https://icons.test/zqx.svg'
const zqx = (row: object = {}): object => ({ code: 'ZQX', name: 'Zeta', icon, ...row })
/** `alpha` and `gamma` name assets by code, `beta` by coin. */
const names = ['alpha', 'beta', 'gamma'] as const
type Name = (typeof names)[number]

interface Market {
  readonly gateway: StartedGateway
  readonly quote: (form: FormName, network?: string, pick?: Name) => Promise<ReceivedResponse>
  readonly create: (form: FormName, network?: string, pick?: Name) => Promise<ReceivedResponse>
  readonly listed: (form: FormName) => Promise<readonly object[]>
  /** What went to a provider for the coin. */
  readonly sent: (name: Name) => readonly Received[]
  readonly stop: (name: Name) => Promise<void>
}

let close: () => Promise<unknown>
afterEach(() => close())

/** The providers in list order, each with its rows under the word. */
async function start(
  rows: Partial<Record<Name, readonly object[]>>,
  {
    list = names,
    routing = {},
    cache = { currencies: 600, rate: 0, staleFor: 600 },
  }: { list?: readonly Name[]; routing?: object; cache?: object } = {},
): Promise<Market> {
  const providers = { alpha: await startFormA(), beta: await startFormB(), gamma: await startFormA() }
  for (const name of names) providers[name].holdings.currencies = [...providers[name].holdings.currencies, ...(rows[name] ?? [])]
  const settings = (name: Name): object => ({ form: name === 'beta' ? 'B' : 'A', url: providers[name].url, key: `key-${name}` })
  const gateway = await startGateway({
    provider: { name: 'alpha', ...settings('alpha') },
    others: { beta: { ...settings('beta') }, gamma: { ...settings('gamma') } },
    sections: { auth: { mode: 'managed' }, cache, routing: { providers: list, pick: list, ...routing } },
  })
  const stopped = new Set<Name>()
  const stop = async (name: Name): Promise<void> => {
    if (!stopped.has(name)) await providers[name].close()
    stopped.add(name)
  }
  close = async () => {
    await gateway.close()
    await Promise.all(names.map(stop))
  }
  const key = await gateway.issueKey('acme')
  const pair = (form: FormName, network?: string): Record<string, string> =>
    form === 'A'
      ? { coinFrom: 'ZQX', coinTo: 'BTC' }
      : { coinFrom: 'ZQX', coinTo: 'BTC', networkTo: 'BTC', ...(network !== undefined && { networkFrom: network }) }
  const options = (pick?: Name) => ({ key, ...(pick && { headers: { 'x-swap-provider': pick } }) })
  return {
    gateway,
    stop,
    quote: (form, network, pick) =>
      client(form, gateway.url).get(`/rate?${new URLSearchParams({ ...pair(form, network), amount: '5' })}`, options(pick)),
    create: (form, network, pick) =>
      client(form, gateway.url).post(
        '/transactions',
        { ...pair(form, network), amount: digits('5'), withdrawalAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
        options(pick),
      ),
    async listed(form) {
      const { json } = await client(form, gateway.url).get('/currencies?search=ZQX')
      return (json as { data: readonly object[] }).data
    },
    sent: (name) => [...providers[name].received('create'), ...providers[name].received('rate')],
  }
}

const providerOf = ({ headers }: ReceivedResponse): unknown => headers['x-swap-provider']
const successOf = { A: 201, B: 200 } as const
const eth = { network: 'ETH', depositMin: 1, depositMax: 1_000 }
const bsc = { network: 'BSC', depositMin: 1, depositMax: 1_000 }

describe.each([
  ['different networks', zqx(eth), zqx(bsc)],
  ['different names', zqx(eth), zqx({ ...eth, name: 'Zebra' })],
  ['different names, and one is silent about the network', zqx(), zqx({ ...eth, name: 'Zebra' })],
])('rows with %s', (_, alpha, gamma) => {
  test.each(formNames)(
    'are not offered to form %s: not listed, not quoted, not created, by no strategy and no pick',
    async (form) => {
      const weighted = (gamma: number) => ({ strategy: 'weighted', weights: { alpha: 1, beta: 0, gamma } })
      for (const routing of [{}, { strategy: 'best' }, weighted(1), weighted(0)]) {
        const market = await start({ alpha: [alpha], gamma: [gamma] }, { routing })
        expect(await market.listed(form)).toEqual([])
        expectRefusal(await market.quote(form, 'ETH'), form, 400, 'not_offered')
        expectRefusal(await market.create(form, 'ETH'), form, 400, 'not_offered')
        expectRefusal(await market.create(form, 'ETH', 'gamma'), form, 400, 'not_offered')
        expect(names.flatMap(market.sent)).toEqual([])
        await close()
      }
      close = async () => {}
    },
  )

  test('are not offered either while the first provider is down', async () => {
    const market = await start({ alpha: [alpha], gamma: [gamma] })
    await market.listed('A')
    await market.stop('alpha')
    expectRefusal(await market.create('A'), 'A', 400, 'not_offered')
    expectRefusal(await market.quote('A'), 'A', 400, 'not_offered')
    expect(market.sent('gamma')).toEqual([])
  })
})

describe.each([
  ['that agree', zqx(eth), zqx(eth)],
  ['that agree but for spelling', zqx(eth), zqx({ ...eth, network: 'eth', name: 'ZETA (ERC20)' })],
  ['that name one network by two of its names', zqx({ ...eth, network: 'ERC20' }), zqx(eth)],
  ['of which one is silent about the network', zqx(), zqx(eth)],
  ['of which the other one is', zqx(eth), zqx()],
])('rows %s', (_, alpha, gamma) => {
  test('belong to the first provider of the list, and are asked of no other', async () => {
    for (const [list, owner] of [
      [['alpha', 'gamma'], 'alpha'],
      [['gamma', 'alpha'], 'gamma'],
    ] as const) {
      for (const routing of [{}, { strategy: 'best' }, { strategy: 'weighted', weights: { alpha: 1, gamma: 1 } }]) {
        const market = await start({ alpha: [alpha], gamma: [gamma] }, { list, routing })
        expect(await market.listed('A')).toHaveLength(1)
        expect([providerOf(await market.quote('A')), providerOf(await market.create('A'))]).toEqual([owner, owner])
        const other = owner === 'alpha' ? 'gamma' : 'alpha'
        expectRefusal(await market.create('A', undefined, other), 'A', 400, 'not_offered')
        await market.stop(owner)
        for (const failed of [await market.quote('A'), await market.create('A')]) expect(failed.status).toBeGreaterThanOrEqual(500)
        expect(market.sent(other)).toEqual([])
        await close()
      }
    }
    close = async () => {}
  })
})

test('a coin that only a later provider lists is that one’s', async () => {
  const market = await start({ gamma: [zqx(eth)] })
  expect(providerOf(await market.quote('A'))).toBe('gamma')
  const created = await market.create('B', 'ETH')
  expect([created.status, providerOf(created)], created.text).toEqual([200, 'gamma'])
  expect(market.sent('alpha')).toEqual([])
})

test('while the list of an earlier provider is not known, it is not known whose coin it is: 503, and nothing is sent', async () => {
  const market = await start({ alpha: [zqx(eth)], gamma: [zqx(bsc)] }, { list: ['alpha', 'gamma'] })
  await market.stop('alpha')
  expectRefusal(await market.create('A'), 'A', 503, 'provider_busy')
  expectRefusal(await market.quote('A'), 'A', 503, 'provider_busy')
  expect(market.sent('gamma')).toEqual([])
})

describe('a form with networks', () => {
  test('its network goes as written to the first provider, where rows are silent', async () => {
    const market = await start({ beta: [zqx({ notes: '' })], alpha: [zqx({ network: 'BEP20' })] }, { list: ['beta', 'alpha'] })
    const created = await market.create('B', 'bep20')
    expect([created.status, providerOf(created)], created.text).toEqual([200, 'beta'])
    expect(JSON.parse(market.sent('beta')[0]?.body ?? '')).toMatchObject({ coinFrom: 'ZQX', networkFrom: 'bep20' })
    expect(market.sent('alpha')).toEqual([])
  })

  test('a coin with one network at one provider and that one and more at the other is requested by network', async () => {
    const market = await start({ alpha: [zqx(eth)], gamma: [zqx(eth), zqx(bsc)] })
    expect((await market.listed('B'))[0]).toMatchObject({ code: 'ZQX', notes: 'Networks: ETH, BSC' })
    expect(providerOf(await market.create('B', 'ETH'))).toBe('alpha')
    expectRefusal(await market.create('A'), 'A', 400, 'not_offered')
    expect(await market.listed('A')).toEqual([])
  })
})

test.each(formNames)('coins of the table go on to the next provider as before, form %s', async (form) => {
  const market = await start({ alpha: [zqx(eth)], gamma: [zqx(bsc)] })
  await market.listed(form)
  await market.stop('alpha')
  const created = await client(form, market.gateway.url).post(
    '/transactions',
    {
      ...(form === 'A'
        ? { coinFrom: 'ETH', coinTo: 'BTC' }
        : { coinFrom: 'ETH', networkFrom: 'ETH', coinTo: 'BTC', networkTo: 'BTC' }),
      amount: digits('5'),
      withdrawalAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    },
    { key: await market.gateway.issueKey('other') },
  )
  expect([created.status, providerOf(created)], created.text).toEqual([successOf[form], 'beta'])
})
