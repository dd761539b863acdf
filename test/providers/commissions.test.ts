/** docs/contract-operators.md §8: what the operator earns is in quotes and creates alike, by provider and by account, and nobody else's. */
import { afterEach, describe, expect, it } from 'vitest'
import { providerForms } from '../../src/forms/index.ts'
import { client, rateQuery } from '../support/pair.ts'
import { addresses, assets, type Rig, startRig } from './rig.ts'

let rig: Rig | undefined
afterEach(async () => {
  await rig?.[Symbol.asyncDispose]()
  rig = undefined
})

const settings = { additional_fee_percent: '0.40' }
const accountSettings = { acme: { additional_fee_percent: '1.25' }, free: { additional_fee_percent: '' } }

async function start(provider: object, rate = 60): Promise<Rig> {
  const sections = { cache: { currencies: 600, rate, staleFor: 0 } }
  const started = await startRig('stealthex', { provider, sections, steadyClock: () => performance.now() })
  rig = started
  return started
}

/** The commissions that went up with quotes and creates, in turn; undefined: none. */
function commissions({ exchange }: Rig): readonly (readonly [operation: string, percent: string | undefined])[] {
  return exchange.calls
    .filter(({ operation }) => operation === 'quote' || operation === 'create')
    .map(({ operation, received }) => [operation, /"additional_fee_percent":([^,}]+)/.exec(received.body)?.[1]])
}

const swap = { from: assets.eth, to: assets.usdtEth, amount: '0.1' }

function quote({ gateway }: Rig, key?: string, rateType: 'float' | 'fixed' = 'float') {
  return client('A', gateway.url).get(rateQuery('A', { ...swap, rateType }), key === undefined ? {} : { key })
}

function create({ gateway }: Rig, key: string, rateType: 'float' | 'fixed' = 'float') {
  const body = { coinFrom: 'ETH', coinTo: 'USDTERC20', amount: 0.1, withdrawalAddress: addresses.ETH, rateType }
  return client('A', gateway.url).post('/transactions', body, { key })
}

describe('a commission', () => {
  it('of the provider is in quotes and creates of every client', async () => {
    const own = await start({ settings })
    const key = await own.gateway.issueKey('other')
    expect((await quote(own)).status).toBe(200)
    expect((await create(own, key)).status).toBe(201)
    expect((await create(own, key, 'fixed')).status).toBe(201)
    expect(commissions(own)).toEqual([
      ['quote', '0.40'],
      ['create', '0.40'],
      ['quote', '0.40'],
      ['create', '0.40'],
    ])
  })

  it('of an account takes its place in the quotes and creates of this account, and an empty one takes it away', async () => {
    const own = await start({ settings, accountSettings }, 0)
    const [acme, free] = [await own.gateway.issueKey('acme'), await own.gateway.issueKey('free')]
    expect((await quote(own, acme, 'fixed')).status).toBe(200)
    expect((await create(own, acme, 'fixed')).status).toBe(201)
    expect((await quote(own, free)).status).toBe(200)
    expect((await create(own, free)).status).toBe(201)
    expect(commissions(own)).toEqual([
      ['quote', '1.25'],
      ['quote', '1.25'],
      ['create', '1.25'],
      ['quote', undefined],
      ['create', undefined],
    ])
  })

  it('of an account without one of the provider is sent for this account alone', async () => {
    const own = await start({ accountSettings: { acme: { additional_fee_percent: '1.25' } } })
    const acme = await own.gateway.issueKey('acme')
    await quote(own, acme)
    await quote(own)
    expect(commissions(own)).toEqual([
      ['quote', '1.25'],
      ['quote', undefined],
    ])
  })

  it('divides shared quotes: no client gets one with the commission of another', async () => {
    const own = await start({ settings, accountSettings })
    const [acme, free, one, two] = await Promise.all(['acme', 'free', 'one', 'two'].map((name) => own.gateway.issueKey(name)))
    const keys = [acme, one, undefined, free, two, acme, free, one]
    const responses = []
    for (const key of keys) responses.push(await quote(own, key))
    expect(responses.map(({ status }) => status)).toEqual(keys.map(() => 200))
    expect(commissions(own)).toEqual([
      ['quote', '1.25'],
      ['quote', '0.40'],
      ['quote', undefined],
    ])
    const again = await Promise.all(keys.map((key) => quote(own, key)))
    expect(again.map(({ status }) => status)).toEqual(keys.map(() => 200))
    expect(commissions(own)).toHaveLength(3)
  })

  it('divides quotes that clients wait for at the same time', async () => {
    const own = await start({ settings, accountSettings }, 0)
    const [acme, one] = [await own.gateway.issueKey('acme'), await own.gateway.issueKey('one')]
    await quote(own)
    own.exchange.delays.quote = 200
    await Promise.all([quote(own, acme), quote(own, one), quote(own, acme), quote(own)])
    expect(
      commissions(own)
        .slice(1)
        .map(([, percent]) => percent)
        .toSorted(),
    ).toEqual(['0.40', '1.25'])
  })

  it('divides what is said of a pair', async () => {
    const own = await start({ settings, accountSettings })
    const acme = await own.gateway.issueKey('acme')
    const describePair = (key?: string) =>
      client('A', own.gateway.url).get('/pairs/ETH/USDTERC20', key === undefined ? {} : { key })
    expect((await describePair()).status).toBe(200)
    expect((await describePair(acme)).status).toBe(200)
    expect(new Set(commissions(own).map(([, percent]) => percent))).toEqual(new Set(['0.40', '1.25']))
  })

  it('of an account keeps its quotes out of caches on the way', async () => {
    const own = await start({ settings, accountSettings })
    const acme = await own.gateway.issueKey('acme')
    expect((await quote(own)).headers['cache-control']).toContain('max-age')
    for (let turn = 0; turn < 2; turn++) expect((await quote(own, acme)).headers['cache-control']).toBe('no-store')
  })

  it('is nowhere in what a client gets', async () => {
    const own = await start({ settings, accountSettings })
    const acme = await own.gateway.issueKey('acme')
    const created = await create(own, acme)
    const id = (created.json as { readonly id: string }).id
    const all = [
      created,
      await quote(own, acme),
      await own.get('A', '/transactions'),
      await client('A', own.gateway.url).get(`/transactions/${id}`, { key: acme }),
    ]
    for (const { status, text, headers } of all) {
      expect(status).toBeLessThan(300)
      expect(`${text}${JSON.stringify(headers)}`).not.toMatch(/additional_fee|\b1\.25\b|\b0\.40\b/)
    }
  })
})

describe('the optional settings of the forms', () => {
  const withSettings = providerForms.filter(({ optionalSettings }) => Object.keys(optionalSettings).length > 0)
  const settingsIn = (form: (typeof providerForms)[number], op: 'getRate' | 'createTransaction') =>
    form.operations
      .filter((operation) => operation.op === op)
      .map(({ requestCodec }) => {
        const fields = Object.fromEntries(requestCodec.slots.map(({ field }) => [field, field === 'rateType' ? 'float' : '1']))
        const values = Object.fromEntries(Object.keys(form.optionalSettings).map((name) => [name, `{"${name}":"set"}`]))
        const required = Object.fromEntries(form.settings.map((name) => [name, 'needed']))
        const { query, body = '' } = requestCodec.encode(fields, { ...required, ...values })
        return Object.keys(form.optionalSettings).filter((name) => `${query}${body}`.includes(name))
      })

  it.each(withSettings.map((form) => [form.name, form] as const))('%s: both rate types have the same', (_, form) => {
    for (const op of ['getRate', 'createTransaction'] as const)
      expect(new Set(settingsIn(form, op).map((names) => names.join()))).toHaveProperty('size', 1)
  })

  it('a quote has all that its create has, where its API takes them', () => {
    const differing = withSettings.flatMap((form) => {
      const [quoted, created] = [settingsIn(form, 'getRate')[0] ?? [], settingsIn(form, 'createTransaction')[0] ?? []]
      return quoted.join() === created.join() ? [] : [[form.name, quoted, created]]
    })
    expect(differing).toEqual([
      ['changenow', [], ['payload']], // no price depends on them
      ['changelly', [], ['userMetadata']],
      ['sideshift', ['commissionRate'], []], // the shift names its quote
    ])
  })
})
