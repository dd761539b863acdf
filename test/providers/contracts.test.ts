/** docs/contract-operators.md §9: tokens are known by contract, at stand-ins of real providers that give another one, over sockets. */
import { describe, expect, test } from 'vitest'
import { resolveCreate } from '../../src/core/operations/resolve.ts'
import { resolvePorts } from '../../src/process/ask-providers.ts'
import { expectRefusal } from '../support/expectations.ts'
import { noCurrencyLists } from '../support/no-currency-lists.ts'
import { lookNow, outcomesOf } from '../support/outcomes.ts'
import type { Reply } from '../support/stand-in.ts'
import { documented, type ProviderName, providerNames } from './documented.ts'
import { assets, createdStatus, type Rig, startRig } from './rig.ts'
import type { Operation, Swap, Words } from './stand-ins/exchange.ts'

const listed = /0xdac17f958d2ee523a2206206994597c13d831ec7/gi
const other = '0x7F5c764cBc14f9669B88837ca1490cCa17c31607'
const placeholder = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
const forms = ['A', 'B'] as const

/** In the place of Tether's contract on Ethereum, the provider gives this one in these operations. */
function replacing(contract: string, ...operations: readonly Operation[]) {
  return (operation: Operation, reply: Reply): Reply | undefined =>
    operations.includes(operation)
      ? { ...reply, json: JSON.parse(JSON.stringify(reply.json).replaceAll(listed, contract)) }
      : undefined
}

async function rigWhere(name: ProviderName, contract: string, provider: object = {}): Promise<Rig> {
  const rig = await startRig(name, { provider })
  rig.exchange.tamper = replacing(contract, 'currencies', 'create')
  return rig
}

const created = ({ exchange }: Rig): number => exchange.swaps.length
const codesOf = async (rig: Rig): Promise<readonly string[]> => {
  const { json } = await rig.get('A', '/currencies?size=100')
  return (json as { data: readonly { code: string }[] }).data.map(({ code }) => code)
}

const listing = providerNames.filter((name) => documented[name].listsContracts)

describe.each(listing)('%s', (name) => {
  test.each(forms)(
    'a token that it lists under another contract is not offered to form %s, and the row is counted',
    async (form) => {
      await using rig = await rigWhere(name, other)
      expect(await codesOf(rig)).not.toContain('USDTERC20')
      for (const sides of [{ to: assets.usdtEth }, { from: assets.usdtEth, to: assets.btc }]) {
        expectRefusal(await rig.quote(form, sides), form, 400, 'not_offered')
        expectRefusal(await rig.create(form, sides), form, 400, 'not_offered')
      }
      expect(created(rig)).toBe(0)
      expect(rig.drift()).toContain('_other contradictingContract ')
      const swapped = await rig.create(form, { to: assets.usdtTrx })
      expect(swapped.status, swapped.text).toBe(createdStatus[form])
    },
  )

  test('a contract in another spelling is the same token', async () => {
    await using rig = await rigWhere(name, '0xDAC17F958D2EE523A2206206994597C13D831EC7')
    expect(await codesOf(rig)).toContain('USDTERC20')
    expect((await rig.create('A')).status).toBe(201)
  })

  test('a row that gives no contract is offered', async () => {
    await using rig = await rigWhere(name, '')
    expect((await rig.create('A')).status).toBe(201)
  })

  test('`assets: { CODE: { contract } }` accepts the other one, and then no longer the one of the table', async () => {
    {
      await using rig = await rigWhere(name, other, { assets: { USDTERC20: { contract: other.toLowerCase() } } })
      expect(await codesOf(rig)).toContain('USDTERC20')
      expect((await rig.create('B')).status).toBe(200)
    }
    await using rig = await startRig(name, { provider: { assets: { USDTERC20: { contract: other } } } })
    expectRefusal(await rig.create('B'), 'B', 400, 'not_offered')
  })

  test('a swap that is open goes on', async () => {
    await using rig = await startRig(name, { sections: { cache: { currencies: 0, rate: 0, staleFor: 0 } } })
    const swap = await rig.create('A')
    expect(swap.status, swap.text).toBe(201)
    rig.exchange.tamper = replacing(other, 'currencies')
    expectRefusal(await rig.create('A'), 'A', 400, 'not_offered')
    const { id } = swap.json as { id: string }
    const read = await rig.get('A', `/transactions/${id}`)
    expect(read.json).toMatchObject({ id, coinFrom: 'ETH', coinTo: 'USDTERC20', status: 'wait' })
    expect(read.headers).not.toHaveProperty('x-swap-stale')
  })
})

test('exolix: a coin of a chain is offered whatever contract its row has, in the recorded create too', async () => {
  await using rig = await startRig('exolix')
  rig.exchange.tamper = (_, reply) => ({
    ...reply,
    json: JSON.parse(JSON.stringify(reply.json).replaceAll('"contract":null', `"contract":"${placeholder}"`)),
  })
  const swap = await rig.create('A')
  expect(swap.status, swap.text).toBe(201)
  expect(await codesOf(rig)).toEqual(expect.arrayContaining(['BTC', 'ETH', 'XRP', 'USDTERC20']))
})

describe.each(['exolix', 'letsexchange'] as const)('%s names contracts in the response to a create', (name) => {
  test.each(forms)('another one is a mismatch for form %s: no deposit address, also not under the key again', async (form) => {
    await using rig = await startRig(name)
    rig.exchange.tamper = replacing(other, 'create')
    for (let at = 0; at < 2; at++) {
      const refused = await rig.create(form, { idempotencyKey: 'order-7' })
      expectRefusal(refused, form, 502, 'mismatch')
      expect(refused.text).not.toContain(rig.exchange.swaps[0]?.deposit)
    }
    expect(created(rig)).toBe(1)
  })

  test('a lost create whose transaction is of another token is a mismatch when it is found', async () => {
    await using rig = await startRig(name)
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create('A', { idempotencyKey: 'order-8' }), 'A', 504, 'outcome_unknown')
    rig.exchange.tamper = replacing(other, 'get')
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('contradicted')
    const repeated = await rig.create('A', { idempotencyKey: 'order-8' })
    expectRefusal(repeated, 'A', 502, 'mismatch')
    expect(repeated.text).not.toContain(rig.exchange.swaps[0]?.deposit)
  })

  test('a lost create whose transaction is of another token is bound and counted with `judge.contract: count`', async () => {
    await using rig = await startRig(name, { provider: { judge: { contract: 'count' } } })
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create('A', { idempotencyKey: 'order-9' }), 'A', 504, 'outcome_unknown')
    rig.exchange.tamper = replacing(other, 'get')
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('found')
    expect(rig.gateway.observations).toContainEqual(
      expect.objectContaining({ what: 'judgement', kind: 'contract', outcome: 'counted', network: 'ETH' }),
    )
    const repeated = await rig.create('A', { idempotencyKey: 'order-9' })
    expect(repeated.status, repeated.text).toBe(201)
    expect(repeated.json).toMatchObject({ depositAddress: rig.exchange.swaps[0]?.deposit })
    expect(created(rig)).toBe(1)
  })

  test('a get of an open swap that names another token later goes on', async () => {
    await using rig = await startRig(name)
    const { id } = (await rig.create('A')).json as { readonly id: string }
    rig.exchange.tamper = replacing(other, 'get')
    const read = await rig.get('A', `/transactions/${id}`)
    expect(read.json).toMatchObject({ id, coinTo: 'USDTERC20', status: 'wait', depositAddress: rig.exchange.swaps[0]?.deposit })
    expect(read.headers).not.toHaveProperty('x-swap-stale')
  })

  test('the accepted one is none', async () => {
    await using rig = await startRig(name, { provider: { assets: { USDTERC20: { contract: other } } } })
    rig.exchange.tamper = replacing(other, 'currencies', 'create')
    const swap = await rig.create('A')
    expect(swap.status, swap.text).toBe(201)
    expect(swap.text).not.toContain('ontract')
  })
})

describe('exolix lists Tether as USDT0, and another token as USDT', () => {
  /** Its list until the rig ends. */
  async function twoTokens(settings: Parameters<typeof startRig>[1] = {}) {
    const rows = documented.exolix.dialect.assets as Words[]
    const at = rows.findIndex(({ coin, network }) => coin === 'USDT' && network === 'ETH')
    const tether = rows[at] as Words
    rows.splice(at, 1, { ...tether, contract: other }, { ...tether, coin: 'USDT0' })
    const rig = await startRig('exolix', settings)
    const end = async (): Promise<void> => {
      rows.splice(at, 2, tether)
      await rig[Symbol.asyncDispose]()
    }
    /** The order is one of the other token; it may say nothing of its contract. */
    const exchangeToken = (index: number, words: Partial<Words> = { contract: other }): void => {
      const { swaps } = rig.exchange
      swaps[index] = { ...(swaps[index] as Swap), to: { coin: 'USDT', network: 'ETH', ...words } }
    }
    /** As after a crash: nothing is in memory. */
    const restart = (): void => rig.edit({ provider: { timeout: 9 } })
    return { ...rig, exchangeToken, restart, [Symbol.asyncDispose]: end }
  }
  const withoutList = (operation: Operation): Reply | undefined =>
    operation === 'currencies' ? { status: 500, json: {} } : undefined

  test.each(forms)('a lost create of form %s is not the order of the other token', async (form) => {
    await using rig = await twoTokens()
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create(form, { idempotencyKey: 'order-10' }), form, 504, 'outcome_unknown')
    expect(rig.exchange.received('create').at(-1)?.body).toContain('USDT0')
    rig.exchangeToken(0)
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).not.toBe('found')
    const repeated = await rig.create(form, { idempotencyKey: 'order-10' })
    expect(repeated.text).not.toContain(rig.exchange.swaps[0]?.deposit)
    rig.exchange.swaps[0] = { ...(rig.exchange.swaps[0] as Swap), to: { coin: 'USDT0', network: 'ETH' } }
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('found')
  })

  test('a lost create is not the order of the other token after a restart, before anybody has asked for the list', async () => {
    await using rig = await twoTokens({ currencyLists: noCurrencyLists })
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create('A', { idempotencyKey: 'order-11' }), 'A', 504, 'outcome_unknown')
    rig.exchangeToken(0, {})
    rig.restart()
    rig.exchange.tamper = withoutList
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('lookupFailed')
    rig.restart()
    rig.exchange.tamper = () => undefined
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).not.toBe('found')
    const repeated = await rig.create('A', { idempotencyKey: 'order-11' })
    expect(repeated.text).not.toContain(rig.exchange.swaps[0]?.deposit)
  })

  test('a person binds no order in other words while there is no list, and none of the other token', async () => {
    await using rig = await twoTokens({ currencyLists: noCurrencyLists })
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create('A', { idempotencyKey: 'order-13' }), 'A', 504, 'outcome_unknown')
    rig.exchangeToken(0, {})
    const { config, ledger, ledgerAdmin } = rig.gateway
    const bind = async () => {
      const ports = resolvePorts(config, { ledger, ledgerAdmin, currencyLists: noCurrencyLists }, 'tester')
      const [create] = await ledgerAdmin.unresolved()
      return resolveCreate(create?.intent ?? '', { bind: rig.exchange.swaps[0]?.id ?? '', force: false }, ports)
    }
    rig.exchange.tamper = withoutList
    expect(await bind()).toMatchObject({ outcome: 'refused', canForce: true })
    rig.exchange.tamper = () => undefined
    expect(await bind()).toMatchObject({ outcome: 'refused', contradictions: ['networkTo'] })
  })

  test('its own order is found without the list', async () => {
    await using rig = await twoTokens({ currencyLists: noCurrencyLists })
    rig.exchange.losesNextCreate = true
    expectRefusal(await rig.create('A', { idempotencyKey: 'order-12' }), 'A', 504, 'outcome_unknown')
    rig.restart()
    rig.exchange.tamper = withoutList
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('found')
  })

  test.each(forms)(
    'a get of form %s is none of this swap after a restart, and one in its own words needs no list',
    async (form) => {
      await using rig = await twoTokens({ currencyLists: noCurrencyLists })
      const { id } = (await rig.create(form)).json as { readonly id: string }
      rig.restart()
      const lists = rig.exchange.received('currencies').length
      expect((await rig.get(form, `/transactions/${id}`)).headers).not.toHaveProperty('x-swap-stale')
      expect(rig.exchange.received('currencies')).toHaveLength(lists)
      rig.exchangeToken(0, {})
      expect((await rig.get(form, `/transactions/${id}`)).headers).toHaveProperty('x-swap-stale')
    },
  )

  test.each(forms)('a get of form %s whose swap is of the other token is none of this swap', async (form) => {
    await using rig = await twoTokens()
    const { id } = (await rig.create(form)).json as { readonly id: string }
    rig.exchangeToken(0)
    const read = await rig.get(form, `/transactions/${id}`)
    expect(read.headers).toHaveProperty('x-swap-stale')
    expect(read.text).not.toContain(rig.exchange.swaps[0]?.deposit)
  })

  test('an order that was not created here has no code and no network for the other token, in a get and a list', async () => {
    await using rig = await twoTokens({ mode: 'passthrough' })
    expect((await rig.create('A')).status).toBe(201)
    const { swaps } = rig.exchange
    swaps.push({ ...(swaps[0] as Swap), id: 'elsewhere' })
    rig.exchangeToken(1)
    const read = await rig.get('A', '/transactions/alpha~elsewhere')
    expect([read.status, read.json]).toEqual([200, expect.objectContaining({ coinFrom: 'ETH' })])
    expect(read.json).not.toHaveProperty('coinTo')
    expect(read.headers['x-swap-omitted']).toContain('coinTo')
    const { json } = await rig.get('B', '/transactions')
    const other = (json as { readonly data: readonly { readonly id: string }[] }).data.find(({ id }) => id === 'alpha~elsewhere')
    expect(other).toMatchObject({ coin_from: 'ETH', coin_to: 'USDT' })
    expect(other).not.toHaveProperty('network_to')
  })
})
