/** docs/contract.md §16: a provider whose form needs the client's address gets it, if it is public, in calls that are not shared. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type GatewaySettings, type StartedGateway, startGateway } from '../support/gateway.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'
import { client, type FormName, formNames, rateQuery } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'
import { roaming } from './roaming.ts'

const home = '8.8.8.8'
const { btc, usdtTrx } = assets
const header = 'x-end-user'

let provider: ProviderA
let other: ProviderA
let gateway: StartedGateway
let key: string

beforeEach(async () => {
  ;[provider, other] = [await startFormA(), await startFormA()]
})
afterEach(async () => {
  await gateway.close()
  await Promise.all([provider.close(), other.close()])
})

type Overrides = Partial<GatewaySettings> & { readonly facts?: object }

async function start({ facts, sections, ...settings }: Overrides = {}): Promise<void> {
  gateway = await startGateway({
    providerForms: [roaming],
    provider: { form: 'roaming', url: provider.url, key: 'provider-key', forwardAddress: true, ...facts },
    others: { beta: { form: 'A', url: other.url, key: 'provider-key' } },
    steadyClock: () => performance.now(),
    ...settings,
    // A quote that could be shared would be, for a minute.
    sections: { server: { trustProxy: 1 }, auth: { mode: 'managed' }, cache: { rate: 60 }, ...sections },
  })
  key = await gateway.issueKey('acme')
}

type RateType = 'fixed' | 'float'
/** The address as the proxy in front of the gateway reports it. */
const at = (address: string): object => ({ key, headers: { 'x-forwarded-for': address } })
const quote = (address: string, form: FormName = 'A', rateType: RateType = 'fixed'): Promise<ReceivedResponse> =>
  client(form, gateway.url).get(rateQuery(form, { from: btc, to: usdtTrx, amount: '0.1', rateType }), at(address))
const create = (address: string, idempotencyKey = 'order-1'): Promise<ReceivedResponse> => {
  const body = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: 0.1, withdrawalAddress: 'TDeposit', rateType: 'fixed' }
  const headers = { 'x-forwarded-for': address, 'idempotency-key': idempotencyKey }
  return client('A', gateway.url).post('/transactions', body, { key, headers })
}
const addressesIn = (operation: 'rate' | 'create'): readonly (string | undefined)[] =>
  provider.received(operation).map(({ headers }) => headers[header])
const sent = (): readonly unknown[] => [...provider.received('rate'), ...provider.received('create')]

describe.each(formNames)('a quote for form %s', (form) => {
  it.each([
    [home, home],
    ['::ffff:8.8.8.8', home],
    ['2606:4700:4700::1111', '2606:4700:4700::1111'],
  ])('P20: of a client at %s carries %s, and is for that client alone', async (address, expected) => {
    await start()
    const [first, second] = await Promise.all([quote(address, form), quote(address, form)])
    for (const response of [first, second, await quote(address, form)]) {
      expect(response.status, response.text).toBe(200)
      expect(response.headers['cache-control']).toBe('no-store')
      expect(response.headers).not.toHaveProperty('age')
    }
    expect(addressesIn('rate')).toEqual([expected, expected, expected])
    expect(gateway.observations.filter(({ what }) => what === 'cache')).not.toContainEqual(
      expect.objectContaining({ cache: 'rate' }),
    )
  })

  it.each(['127.0.0.1', '10.1.2.3', '100.64.0.1', '169.254.1.1', 'fd00::1', 'fe80::1', '::ffff:192.168.0.1', '::1', 'unknown'])(
    'P20: of a client at %s is refused, and nothing is sent',
    async (address) => {
      await start()
      expect(expectRefusal(await quote(address, form), form, 400, 'refused')).toContain('public network address')
      expect(sent()).toEqual([])
    },
  )
})

it('P20: only the calls that the form names carry it, and the others are shared as always', async () => {
  await start()
  const response = await quote('10.0.0.1', 'A', 'float')
  await quote(home, 'A', 'float')
  expect([response.status, response.headers['cache-control']]).toEqual([200, 'private, max-age=60'])
  expect((await create(home)).status).toBe(201)
  const { id } = (await create(home)).json as { readonly id: string }
  await client('A', gateway.url).get(`/transactions/${id}`, at(home))
  expect(addressesIn('rate')).toEqual([undefined])
  expect(provider.journal.filter(({ headerNames }) => headerNames.includes(header)).map(({ operation }) => operation)).toEqual([
    'create',
  ])
})

it('P20: quotes of two clients at the same time carry the address of each', async () => {
  await start()
  await Promise.all([quote(home), quote('1.1.1.1'), quote('9.9.9.9')])
  expect(addressesIn('rate').toSorted()).toEqual(['1.1.1.1', home, '9.9.9.9'])
})

describe('a create', () => {
  it('P20: carries the address; with its Idempotency-Key from another address it is the same', async () => {
    await start()
    const first = await create(home)
    const again = await create('10.0.0.1')
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
    expect(addressesIn('create')).toEqual([home])
  })

  it('P20: of a client without a public address is refused, nothing is doubtful, and the key is free', async () => {
    await start()
    expectRefusal(await create('192.168.0.1'), 'A', 400, 'refused')
    expect([sent(), await gateway.ledgerAdmin.unresolved()]).toEqual([[], []])
    expect((await create(home)).status).toBe(201)
  })

  it('P20: of unknown outcome is looked for without a client', async () => {
    await start()
    loseResponses(provider)
    expectRefusal(await create(home), 'A', 504)
    await lookNow(gateway)
    expect(outcomesOf(gateway).at(-1)).toBe('found')
    expect(provider.received('list').flatMap(({ headerNames }) => headerNames)).not.toContain(header)
  })
})

it('P20: a client without a public address spends nothing of the budget', async () => {
  await start({ facts: { rateLimit: { quotes: 2, create: 1, read: 0 } }, budgets: memoryBudgets(() => 0) })
  for (let number = 0; number < 5; number++) expectRefusal(await quote('10.0.0.1'), 'A', 400, 'refused')
  for (let number = 0; number < 5; number++) expectRefusal(await create('10.0.0.1'), 'A', 400, 'refused')
  expect([(await quote(home)).status, (await create(home)).status]).toEqual([200, 201])
})

it('P20: the next provider takes what this one cannot', async () => {
  await start({ sections: { routing: { providers: ['alpha', 'beta'] } } })
  expect((await quote('10.0.0.1')).headers['x-swap-provider']).toBe('beta')
  expect((await create('10.0.0.1')).headers['x-swap-provider']).toBe('beta')
  expect(other.journal.flatMap(({ headerNames }) => headerNames)).not.toContain(header)
  expect((await quote(home)).headers['x-swap-provider']).toBe('alpha')
})

it('P20: without a proxy of the operator’s, a client cannot choose its address', async () => {
  await start({ sections: { server: { trustProxy: 0 } } })
  expectRefusal(await quote(home), 'A', 400, 'refused')
  expect(sent()).toEqual([])
})

it('P20: the mirror never carries an address of a client', async () => {
  const routing = { providers: ['beta'], mirror: { provider: 'alpha', sample: 1 } }
  await start({ sections: { routing, cache: { rate: 0 } } })
  const results = () => gateway.observations.flatMap((observation) => (observation.what === 'mirror' ? [observation.result] : []))
  await quote(home, 'A', 'fixed')
  await vi.waitFor(() => expect(results()).toEqual(['skipped']), eventTimeoutMs)
  await quote(home, 'A', 'float')
  await vi.waitFor(() => expect(results()).toEqual(['skipped', 'compared']), eventTimeoutMs)
  expect(addressesIn('rate')).toEqual([undefined])
})

it('P20: in passthrough mode it is the same', async () => {
  await start({ sections: { auth: { mode: 'passthrough' } } })
  key = 'canary-client-key-1'
  expect([(await quote(home)).status, (await create(home)).status]).toEqual([200, 201])
  expectRefusal(await quote('10.0.0.1'), 'A', 400, 'refused')
  expect([addressesIn('rate'), addressesIn('create')]).toEqual([[home], [home]])
})

it('P20: it is a configuration fault not to allow it', async () => {
  await start()
  await expect(start({ facts: { forwardAddress: false } })).rejects.toThrow(
    'providers.alpha.forwardAddress: must be true: the form roaming sends the address of each client to the provider',
  )
})
