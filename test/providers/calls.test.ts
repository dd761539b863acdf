/** docs/contract.md §16, docs/contract-operators.md §8: what goes up to a real provider: how many calls, with whose key, in whose words. */
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { expectRefusal } from '../support/expectations.ts'
import { clientKey } from '../support/gateway.ts'
import { type Documented, documented, providerNames } from './documented.ts'
import { assets, clientAddress, type Rig, startRig } from './rig.ts'

let rig: Rig | undefined
afterEach(async () => {
  await rig?.[Symbol.asyncDispose]()
  rig = undefined
})

const upstreamHeaders =
  /^(?:accept|accept-encoding|content-type|content-length|traceparent|tracestate|x-request-id|user-agent|host|connection|transfer-encoding)$/

describe.each(providerNames)('%s', (name) => {
  const { quoteCalls, hasRateIds, header, secret, addressHeader, rateTypes }: Documented = documented[name]

  it('P8: a budget counts HTTP calls', async () => {
    const quotes = 1 + 2 * quoteCalls.length // the list, and two quotes
    rig = await startRig(name, { provider: { rateLimit: { quotes, create: 0, read: 0 } }, budgets: memoryBudgets(() => 0) })
    expect((await rig.quote('A')).status).toBe(200)
    expect((await rig.quote('A', { amount: '0.2' })).status).toBe(200)
    expectRefusal(await rig.quote('A', { amount: '0.3' }), 'A', 503)
    const calls = rig.exchange.calls.filter(({ operation }) => ['currencies', 'quote', 'limits'].includes(operation))
    expect(calls).toHaveLength(quotes)
  })

  if (hasRateIds)
    it('P8: a fixed create spends its own quote, and is not sent without it', async () => {
      rig = await startRig(name, {
        provider: { rateLimit: { quotes: 1 + quoteCalls.length, create: 0, read: 0 } },
        budgets: memoryBudgets(() => 0),
      })
      expect((await rig.create('A', { rateType: 'fixed' })).status).toBe(201)
      expectRefusal(await rig.create('A', { rateType: 'fixed' }), 'A', 503)
      expect(rig.exchange.received('create')).toHaveLength(1)
      if (rateTypes.includes('float')) expect((await rig.create('A', { rateType: 'float' })).status).toBe(201)
    })

  if (hasRateIds)
    it('the quote of a fixed create and the create share one deadline', async () => {
      // Each alone would be in time. Half of it must be left when the create is sent.
      rig = await startRig(name, { provider: { timeout: 3 } })
      Object.assign(rig.exchange.delays, { quote: 300, create: 2_850 })
      expectRefusal(await rig.create('A', { rateType: 'fixed', idempotencyKey: 'order-1' }), 'A', 504)
      rig.exchange.delays.quote = 3_300
      expectRefusal(await rig.create('A', { rateType: 'fixed', idempotencyKey: 'order-2' }), 'A', 502)
      expect(rig.exchange.received('create')).toHaveLength(1)
      expect(await rig.gateway.ledgerAdmin.unresolved()).toHaveLength(1)
    })

  it('each call has the operator’s credential and nothing of the client', async () => {
    rig = await startRig(name)
    await rig.create('A', { rateType: 'fixed' })
    expect(rig.exchange.calls.length).toBeGreaterThan(1)
    for (const { operation, received } of rig.exchange.calls) {
      const own = header === undefined ? ['x-api-key', secret === undefined ? 'x-api-signature' : 'x-api-sign'] : [header]
      if (addressHeader !== undefined && ['quote', 'create'].includes(operation)) {
        own.push(addressHeader)
        expect(received.headers[addressHeader]).toBe(clientAddress)
      }
      expect(received.headerNames.filter((known) => !upstreamHeaders.test(known) && !own.includes(known))).toEqual([])
      expect(JSON.stringify([received.headers, received.body])).not.toContain(clientKey)
    }
  })

  it.each(Object.entries(documented[name].words))('%s goes up as %s', async (code, word) => {
    rig = await startRig(name)
    const { quote, exchange } = rig
    const [coin = '', network = ''] = word.split(' ')
    const asset = { code, coin: code, network: code } // only its code is used in Form A
    const { status, text } = await quote('A', code === 'ETH' ? { from: asset, to: assets.btc } : { from: asset, to: assets.eth })
    expect(status, text).toBe(200)
    const [sent] = exchange.received('quote')
    const sentText = `${sent?.rawQuery} ${sent?.body}`
    expect(sentText).toContain(coin)
    if (!documented[name].isNamedByCode) expect(sentText).toContain(network)
  })
})

describe.each(providerNames.filter((name) => documented[name].header !== undefined))('%s in passthrough mode', (name) => {
  it('P9: quotes go up with the operator’s key, and what needs a key with the client’s', async () => {
    rig = await startRig(name, { mode: 'passthrough' })
    const { exchange, facts } = rig
    expect((await rig.quote('A')).status).toBe(200)
    expect((await rig.create('A')).status).toBe(201)
    expect((await rig.get('A', `/transactions/alpha~${exchange.swaps[0]?.id}`)).status).toBe(200)
    expect((await rig.create('A', { rateType: 'fixed' })).status).toBe(201)
    for (const { operation, received } of exchange.calls) {
      const isClients = ['create', 'get', 'list'].includes(operation)
      const isKeyed = operation !== 'get' || facts.isGetKeyed
      const sent = received.headers[facts.header ?? '']
      const expected = !isKeyed ? undefined : isClients ? clientKey : operation === 'currencies' ? facts.currenciesKey : facts.key
      expect([operation, sent?.replace('Bearer ', '')]).toEqual([operation, expected])
    }
  })

  if (documented[name].hasList)
    it('a client’s list is the provider’s, for both forms', async () => {
      rig = await startRig(name, { mode: 'passthrough' })
      for (let number = 1; number <= 3; number++) await rig.create('A', { amount: `0.${number}` })
      const ids = rig.exchange.swaps.map(({ id }) => `alpha~${id}`)
      for (const form of ['A', 'B'] as const) {
        const list = await rig.get(form, '/transactions?size=10')
        expect(list.status, list.text).toBe(200)
        const { data } = list.json as { readonly data: readonly { readonly id: string }[] }
        expect(data.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
      }
      expect(rig.exchange.received('list').length).toBeGreaterThan(0)
      expect(rig.drift()).toEqual([])
    })

  if (!documented[name].hasList)
    it('a client cannot list, and gets an error', async () => {
      rig = await startRig(name, { mode: 'passthrough' })
      const list = await rig.get('A', '/transactions')
      expectRefusal(list, 'A', 400, 'not_offered')
      expect(rig.exchange.calls.filter(({ operation }) => operation === 'other')).toEqual([])
    })

  if (documented[name].hasRateIds)
    it('P35: a fixed create whose quote the provider keeps for the key of the operator is refused, and the key is free', async () => {
      rig = await startRig(name, { mode: 'passthrough' })
      rig.exchange.forgetsRateIds = true
      const order = { rateType: 'fixed', idempotencyKey: 'order-1' } as const
      expectRefusal(await rig.create('A', order), 'A', 502)
      expect(rig.exchange.calls.at(-1)?.refused).toBe('rateId')
      expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
      rig.exchange.forgetsRateIds = false
      expect((await rig.create('A', order)).status).toBe(201)
    })

  it('P9: without a key for quotes it is a configuration fault', async () => {
    await expect(startRig(name, { mode: 'passthrough', provider: { key: '' } })).rejects.toThrow(/providers\.alpha\.key/)
  })
})

const signed = providerNames.filter((name) => documented[name].header === undefined)

describe.each(signed.filter((name) => documented[name].secret === undefined))('%s signs its calls with its key', (name) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const otherKind = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

  it.each([
    ['no key at all', 'key-of-no-kind-1'],
    ['cut off', documented[name].key.slice(0, -20)],
    ['of another kind', otherKind],
    ['the public one', publicKey.export({ type: 'spki', format: 'pem' }).toString()],
    ['in lines that were lost', '-----BEGIN PRIVATE KEY-----MIIE'],
  ])('P31: a key that cannot sign is a configuration fault: %s', async (_, key) => {
    const failure = await startRig(name, { provider: { key } }).catch((reason: unknown) => String(reason))
    expect(failure).toMatch(/providers\.alpha\.key: must be a private RSA key/)
    expect(failure).not.toContain(key)
  })
})

describe.each(signed.filter((name) => documented[name].secret !== undefined))('%s signs its calls with a secret', (name) => {
  it('another secret than that of the key is the operator’s trouble, and reaches no client', async () => {
    rig = await startRig(name)
    await rig.get('A', '/currencies')
    rig.exchange.secret = 'secret-of-another-key'
    for (const response of [await rig.quote('A'), await rig.create('A')]) {
      expectRefusal(response, 'A', 502)
      expect(response.text).not.toContain(documented[name].secret)
    }
    expect(rig.exchange.calls.at(-1)?.refused).toBe('key')
    expect(rig.exchange.swaps).toEqual([])
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  it('neither the secret nor anything that contains it is sent', async () => {
    rig = await startRig(name)
    expect((await rig.create('A')).status).toBe(201)
    const sent = JSON.stringify(rig.exchange.calls.map(({ received }) => received))
    expect(sent).toContain(documented[name].key)
    expect(sent).not.toContain(documented[name].secret)
  })

  it('a secret that is changed is used at once', async () => {
    const started = await startRig(name)
    rig = started
    await rig.get('A', '/currencies')
    const secret = 'the-new-secret'
    rig.exchange.secret = secret
    expectRefusal(await rig.create('A'), 'A', 502)
    rig.edit({ provider: { secret } })
    await vi.waitFor(async () => expect((await started.create('A')).status).toBe(201), { timeout: eventTimeoutMs })
  })

  it('a body with other characters than ASCII is signed as it is sent', async () => {
    rig = await startRig(name)
    const { status, text } = await rig.create('A', { to: assets.xrp, body: { withdrawalExtraId: 'Grüße' } })
    expect([201, 400], text).toContain(status)
    expect(rig.exchange.calls.filter(({ refused }) => refused === 'key')).toEqual([])
  })

  it('without a secret it is a configuration fault, and so is one with a form that signs nothing with it', async () => {
    await expect(startRig(name, { provider: { secret: '' } })).rejects.toThrow(
      `providers.alpha.secret: is needed for the form ${name}`,
    )
    await expect(startRig('exolix', { provider: { secret: 'of-no-use' } })).rejects.toThrow(
      'providers.alpha.secret: has no effect: the form exolix signs nothing with a secret',
    )
  })

  it.each(['two\nlines', ' spaces ', 'ключ'])('a key that no header can carry is a configuration fault: %j', async (key) => {
    await expect(startRig(name, { provider: { key } })).rejects.toThrow(
      'providers.alpha.key: must be one line of visible characters',
    )
  })
})

describe.each(signed)('%s signs its calls', (name) => {
  it('P32: passthrough mode is a configuration fault, since clients cannot send a signature', async () => {
    await expect(startRig(name, { mode: 'passthrough' })).rejects.toThrow(
      /^providers\.alpha\.form: needs auth\.mode managed: calls of the form \w+ are signed, and clients cannot send a signature \(line \d+\)$/,
    )
  })
})
