/** The lines of a table that `docs/forms.md` lists beside the example's: each does what the page says. */
import { describe, expect, it } from 'vitest'
import type { Fault } from '../../src/domain/fault.ts'
import type { Op } from '../../src/domain/service.ts'
import { bearer } from '../../src/wire/credential.ts'
import { plainKey } from '../../src/wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../../src/wire/provider-form.ts'
import { byMember, each, idPart, inside, optional, optionalSetting, reason, setting, text } from '../../src/wire/table.ts'
import { known } from '../golden/check.ts'
import { callProvider } from '../golden-providers/connected.ts'

const order = {
  id: 'id',
  state: 'status',
  from: 'codeFrom',
  to: 'codeTo',
  amount: text('amountIn'),
  gets: text('amountOut'),
  kind: 'rateType',
  deposit: 'depositAddress',
  payout: 'withdrawalAddress',
  back: inside({ hash: optional('refundAddress') }),
  made: 'createdAt',
} as const

const form = defineProviderForm({
  name: 'millrace',
  credential: plainKey(bearer()),
  keyed: ['getRate', 'createTransaction', 'listTransactions', 'getTransaction'],
  statuses: {
    OPEN: 'wait',
    BACK: byMember('back.hash', { present: 'refunded', otherwise: 'exchanging' }),
    STOP: byMember('choice', { words: { RETURN: 'exchanging', '2': 'sending' }, otherwise: 'held' }),
  },
  newestFirst: true,
  hasExpectedAmount: true,
  refusal: {
    messages: ['msg'],
    codes: { at: 'code', meanings: { MIN: { kind: 'invalid', reason: 'below_minimum' } } },
    texts: [
      { matches: /^no such order/i, meaning: { kind: 'notFound' } },
      { matches: /\baddress\b/i, meaning: { kind: 'invalid', reason: 'address_invalid' } },
    ],
    members: { fields: { kind: 'invalid' } },
    statuses: { 402: { kind: 'unauthorized' }, 404: { kind: 'invalid', reason: 'not_offered' }, 429: { kind: 'unauthorized' } },
  },
  operations: {
    getRate: providerOperation<'getRate'>()({
      at: 'GET /quotes',
      request: {
        from: 'codeFrom',
        to: 'codeTo',
        amount: 'amountIn',
        text: text(optional('rateType')),
        site: setting('site'),
        fee: optionalSetting('fee'),
      },
      response: { amount: text('amountIn'), gets: text('amountOut'), kind: 'rateType' },
    }),
    createTransaction: providerOperation<'createTransaction'>()({
      at: 'POST /orders',
      request: {
        from: 'codeFrom',
        to: 'codeTo',
        amount: 'amountIn',
        kind: 'rateType',
        payout: inside({ address: 'withdrawalAddress', amount: text('amountIn') }),
        partner: inside({ site: setting('site'), fee: optionalSetting('fee') }),
        share: optionalSetting('share', 'number'),
        labels: optionalSetting('labels', 'object'),
      },
      response: order,
    }),
    getTransaction: providerOperation<'getTransaction'>()({ at: 'GET /orders/{id}', request: { id: 'id' }, response: order }),
    listTransactions: providerOperation<'listTransactions'>()({
      at: 'GET /orders',
      request: { page: 'page', count: 'size' },
      page: { rows: 'items', next: 'hasMore', kind: 'ofEachRow', meta: { from: 'ofEachRow' } },
      response: order,
    }),
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'GET /coins',
      request: {},
      page: { coins: 'items', coin: 'ofEachRow' },
      response: { ticker: 'code', coin: 'name', logos: each('icon') },
    }),
  },
})

const wire = {
  id: 'm1',
  state: 'OPEN',
  from: 'BTC',
  to: 'ETH',
  amount: '1',
  gets: '15',
  kind: 'float',
  deposit: 'bc1',
  payout: '0x01',
  back: { hash: null },
  made: '2026-07-29T14:04:29Z',
}

interface Answer {
  readonly status?: number
  readonly body: unknown
}

async function call(op: Op, fields: object, { status = 200, body }: Answer, settings: Record<string, string> = { site: 's1' }) {
  const request = { op, key: undefined, fields: fields as Readonly<Record<string, unknown>> }
  const respond = () => ({ status, headers: {}, body: JSON.stringify(body) })
  const { sent, outcome, drift } = await callProvider(form, request, settings, respond)
  if ('fault' in outcome) return { sent, drift, fault: outcome.fault as Fault, body: undefined }
  return { sent, drift, fault: undefined, body: known(outcome.body as object) as Record<string, unknown> }
}

describe('an id that two members have together', () => {
  const named = { ...order, id: idPart(0), token: idPart(1) } as const
  const request = { id: idPart(0), token: idPart(1) } as const
  const twoParts = defineProviderForm({
    name: 'millrace',
    credential: plainKey(bearer()),
    statuses: { OPEN: 'wait' },
    newestFirst: true,
    hasExpectedAmount: true,
    refusal: {},
    operations: {
      createTransaction: providerOperation<'createTransaction'>()({
        at: 'POST /orders',
        request: { from: 'codeFrom', to: 'codeTo', amount: 'amountIn', kind: 'rateType', payout: 'withdrawalAddress' },
        response: named,
        keeps: ['refundAddress'],
      }),
      getTransaction: providerOperation<'getTransaction'>()({ at: 'POST /order', request, response: named, assumes: ['id'] }),
    },
  })
  const create = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: '1', rateType: 'float', withdrawalAddress: '0x01' }

  async function calling(op: Op, fields: object, members: object) {
    const respond = () => ({ status: 200, headers: {}, body: JSON.stringify({ ...wire, ...members }) })
    const asked = { op, key: undefined, fields: fields as Readonly<Record<string, unknown>> }
    const { sent, outcome } = await callProvider(twoParts, asked, {}, respond)
    return {
      body: sent[0]?.body,
      outcome: outcome as { fault?: Fault; body?: Record<string, unknown>; derived?: readonly string[] },
    }
  }

  it('is both with a dot between them, whatever their order', async () => {
    const { token, id, ...rest } = { ...wire, token: 't.o.k', id: 'm1' }
    expect((await calling('createTransaction', create, { token: 't.o.k' })).outcome.body?.id).toBe('m1.t.o.k')
    expect((await calling('getTransaction', { id: 'm1.t' }, { token, id, ...rest })).outcome.body?.id).toBe('m1.t.o.k')
  })

  it('goes up in its parts', async () => {
    expect((await calling('getTransaction', { id: 'm1.t.o.k' }, {})).body).toBe('{"id":"m1","token":"t.o.k"}')
    expect((await calling('getTransaction', { id: 'm1' }, {})).body).toBe('{"id":"m1","token":""}')
    expect((await calling('getTransaction', { id: '.k' }, {})).body).toBe('{"id":"","token":"k"}')
  })

  it('has the second part of the request where a get does not repeat it, but never the first', async () => {
    expect((await calling('getTransaction', { id: 'm1.key' }, {})).outcome.body?.id).toBe('m1.key')
    expect((await calling('getTransaction', { id: 'other.key' }, {})).outcome.body?.id).toBe('m1.key')
    for (const members of [{ id: undefined }, { id: undefined, token: 'key' }, { id: null }])
      expect((await calling('getTransaction', { id: 'm1.key' }, members)).outcome.fault?.kind).toBe('unreadable')
  })

  it.each([{}, { token: null }, { token: '' }, { token: 'x'.repeat(255) }, { id: 'm.1', token: 'key' }, { id: '', token: 'key' }])(
    'is none where a part of a create is missing, has a dot, or is too long: %j',
    async (members) => {
      expect((await calling('createTransaction', create, members)).outcome.fault?.kind).toBe('unreadable')
    },
  )

  it('a field that stays here does not go up, and is that of the request in the response', async () => {
    const { body, outcome } = await calling('createTransaction', { ...create, refundAddress: 'bc1back' }, { token: 'k' })
    expect(body).not.toContain('bc1back')
    expect([outcome.body?.refundAddress, outcome.derived]).toEqual(['bc1back', ['refundAddress']])
  })
})

it('of a list of reasons the first counts', () => {
  const words = reason({ late_deposit: 'LATE', other: 'x' }).format?.({} as never)
  const list = (text: string) => words?.fromJson(JSON.parse(text) as never)
  expect([list('["LATE", "LESS"]'), list('["LESS", "LATE"]'), list('"LATE"')]).toEqual(['late_deposit', 'other', 'late_deposit'])
})

describe('a status that depends on another member', () => {
  const statusOf = async (members: object) => {
    const { body } = await call('getTransaction', { id: 'm1' }, { body: { ...wire, ...members } })
    return [body?.status, body?.attention]
  }

  it.each([
    [{ back: { hash: '0xback' } }, 'refunded'],
    [{ back: { hash: '' } }, 'exchanging'],
    [{ back: { hash: null } }, 'exchanging'],
    [{ back: {} }, 'exchanging'],
    [{ back: null }, 'exchanging'],
  ])('means one thing where the member is present, and another where it is not: %j', async (members, status) => {
    expect(await statusOf({ state: 'BACK', ...members })).toEqual([status, undefined])
  })

  it.each([
    [{ choice: 'RETURN' }, ['exchanging', undefined]],
    [{ choice: 2 }, ['sending', undefined]],
    [{ choice: 'toString' }, ['exchanging', 'held']],
    [{}, ['exchanging', 'held']],
  ])('means what the word of the member says: %j', async (members, expected) => {
    expect(await statusOf({ state: 'STOP', ...members })).toEqual(expected)
  })

  it('does not depend on the order of the members', async () => {
    const { state, back, ...rest } = { ...wire, state: 'BACK', back: { hash: '0xback' } }
    expect((await call('getTransaction', { id: 'm1' }, { body: { back, ...rest, state } })).body?.status).toBe('refunded')
    expect((await call('getTransaction', { id: 'm1' }, { body: { state, ...rest, back } })).body?.status).toBe('refunded')
  })
})

describe('a refusal', () => {
  const refused = async (status: number, body: unknown, op: Op = 'getTransaction') => {
    const { fault } = await call(op, op === 'getTransaction' ? { id: 'm1' } : create, { status, body })
    return [fault?.kind, fault?.reason, fault?.effect]
  }

  it('is known by its text', async () => {
    expect(await refused(400, { msg: 'No such order: m1' })).toEqual(['notFound', 'not_found', 'refused'])
    expect(await refused(400, { msg: 'Wrong address' }, 'createTransaction')).toEqual(['invalid', 'address_invalid', 'refused'])
  })

  it('is known by its HTTP status where nothing in the body says what it is', async () => {
    expect(await refused(402, { msg: 'Pay first' })).toEqual(['unauthorized', 'key_invalid', 'refused'])
    expect(await refused(402, 'Payment Required')).toEqual(['unauthorized', 'key_invalid', 'refused'])
    expect(await refused(404, {}, 'createTransaction')).toEqual(['invalid', 'not_offered', 'refused'])
  })

  it('goes by its code before its text, by that before its status', async () => {
    expect(await refused(402, { code: 'MIN', msg: 'The address' })).toEqual(['invalid', 'below_minimum', 'refused'])
    expect(await refused(402, { msg: 'The address', fields: ['a'] })).toEqual(['invalid', 'address_invalid', 'refused'])
    expect(await refused(402, { msg: 'Something', fields: ['a'] })).toEqual(['invalid', 'refused', 'refused'])
  })

  it('with 429 is a limit, and with 5xx leaves the outcome of a create open, whatever else it says', async () => {
    expect((await refused(429, { msg: 'Slow down' }))[0]).toBe('limited')
    expect((await refused(500, { msg: 'Wrong address' }, 'createTransaction'))[2]).toBe('maybe')
  })
})

const query = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: '1', rateType: 'float' }
const create = { ...query, withdrawalAddress: '0x01' }
const quoted = { amount: '1', gets: '15', kind: 'float' }

describe('an optional setting', () => {
  it('is sent where the configuration has it, and left out where it has not', async () => {
    const queryOf = async (settings: Record<string, string>) =>
      (await call('getRate', query, { body: quoted }, settings)).sent[0]?.query
    expect(await queryOf({ site: 's1', fee: '0.5' })).toBe('from=BTC&to=ETH&amount=1&text=float&site=s1&fee=0.5')
    expect(await queryOf({ site: 's1' })).toBe('from=BTC&to=ETH&amount=1&text=float&site=s1')
    const partnerOf = async (settings: Record<string, string>) =>
      JSON.parse((await call('createTransaction', create, { body: wire }, settings)).sent[0]?.body ?? '').partner
    expect(await partnerOf({ site: 's1', fee: '0.5' })).toEqual({ site: 's1', fee: '0.5' })
    expect(await partnerOf({ site: 's1' })).toEqual({ site: 's1' })
    expect(await partnerOf({ site: 's1', fee: '' })).toEqual({ site: 's1' })
  })

  it('is written as a text, a number or an object', async () => {
    const settings = { site: 's1', share: '0.10', labels: '{"channel":"app"}' }
    const { sent } = await call('createTransaction', create, { body: wire }, settings)
    expect(sent[0]?.body).toMatch(/"share":0\.10,"labels":\{"channel":"app"\}\}$/)
  })

  it('is told apart from one that the form requires', () => {
    expect([form.settings, form.optionalSettings]).toEqual([['site'], { fee: 'text', share: 'number', labels: 'object' }])
  })
})

describe('an amount in a text or a query', () => {
  it.each([
    ['1e-7', '0.0000001'],
    ['1.50E+3', '1500'],
    ['0.10', '0.10'],
    ['100', '100'],
  ])('%s is written as %s', async (amountIn, plain) => {
    const { sent } = await call('getRate', { ...query, amountIn }, { body: quoted })
    expect(sent[0]?.query).toContain(`amount=${plain}&`)
    const { sent: created } = await call('createTransaction', { ...create, amountIn }, { body: wire })
    expect(created[0]?.body).toContain(`"payout":{"address":"0x01","amount":"${plain}"}`)
    expect(created[0]?.body).toContain(`"amount":${amountIn},`)
  })
})

describe('a member beside the rows of a page', () => {
  const { kind: _, from: __, ...row } = wire
  const page = { rows: [row], next: null, kind: 'float', meta: { from: 'BTC' } }
  const list = (body: unknown, size = 1) => call('listTransactions', { page: 1, size }, { body })

  it('is one of each row that has none of its own', async () => {
    const { body, drift } = await list({ ...page, rows: [row, { ...row, kind: 'fixed' }] }, 50)
    expect(body?.items).toMatchObject([
      { id: 'm1', rateType: 'float', codeFrom: 'BTC' },
      { rateType: 'fixed', codeFrom: 'BTC' },
    ])
    expect(drift).toEqual([])
    const coins = { coins: [{ ticker: 'BTC', logos: ['i'] }], coin: 'Bitcoin' }
    expect((await call('listCurrencies', { page: 1, size: 100 }, { body: coins })).body?.items).toEqual([
      { code: 'BTC', name: 'Bitcoin', icon: 'i' },
    ])
  })

  it('is missed in a row where the page does not have it either: the row is left out', async () => {
    const { body } = await list({ ...page, kind: undefined })
    expect(body).toMatchObject({ items: [], dropped: 1 })
  })

  it.each([
    ['cursor-2', true],
    [true, true],
    [null, false],
    [false, false],
    ['', false],
    [undefined, false],
  ])('says whether there is a page after it: %j', async (next, hasMore) => {
    expect((await list({ ...page, next })).body?.hasMore).toBe(hasMore)
  })
})
