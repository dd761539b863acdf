// Takes long: it waits as clients do.
/** The clients to copy: what each of them does about every error, at a server that replies as the test says. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { type Call, type Connection, drivers, hasPython, type Result } from './drivers.ts'
import { created, type Reply, refusal, type Stub, startStub, swap } from './stub.ts'

const order = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: '0.10', withdrawalAddress: 'T-withdrawal' }

/** The rows of docs/errors.md: the reason, and its statuses. */
const documented = [...readFileSync('docs/errors.md', 'utf8').matchAll(/^\| `(\w+)` \| ([\d, ]+) \|/gm)].map(
  ([, reason = '', statuses = '']) => ({ reason, statuses: statuses.split(', ').map(Number) }),
)

/** What the caller of a create gets for each reason. */
const errorsOfCreate: Readonly<Record<string, readonly string[]>> = {
  BadRequest: [
    'path',
    'method',
    'form_conflict',
    'parameter_invalid',
    'parameter_unknown',
    'body_invalid',
    'idempotency_key_missing',
    'too_large',
    'media_type',
    'conflict',
  ],
  AssetRefused: ['unknown_asset', 'network_required', 'network_unknown', 'not_offered'],
  AddressRefused: ['address_invalid', 'memo_invalid'],
  AmountRefused: ['below_minimum', 'above_maximum'],
  ProviderRefused: ['refused'],
  KeyRefused: ['key_missing', 'key_invalid', 'key_scope', 'role'],
  NotFound: ['not_found', 'not_open'],
  QuoteExpired: ['quote_expired'],
  KeyReused: ['key_reused'],
  Limited: ['limited', 'unverified_limited'],
  Unavailable: ['too_slow', 'provider_failed', 'provider_busy', 'overloaded', 'ledger_unavailable', 'stopping'],
  Mismatch: ['mismatch'],
  OutcomeUnknown: ['in_progress', 'outcome_unknown', 'needs_person', 'timeout', 'ledger_restored', 'internal'],
}
const errorOf = (reason: string): string | undefined =>
  Object.keys(errorsOfCreate).find((name) => errorsOfCreate[name]?.includes(reason))

const languages = hasPython ? (['TypeScript', 'Python'] as const) : (['TypeScript'] as const)

it(hasPython ? 'both clients are tested' : 'only the TypeScript client is tested: python3 is not there', () => {
  expect(documented.length).toBeGreaterThan(30)
})

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly required?: readonly string[]
}

const { schemas } = (
  JSON.parse(readFileSync('docs/openapi/a.json', 'utf8')) as {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  }
).components

function numbersIn({ properties = {}, items }: Schema): readonly string[] {
  const members = Object.entries(properties).flatMap(([name, member]) => [
    ...(member.type === 'number' ? [name] : []),
    ...numbersIn(member),
  ])
  return items ? [...members, ...numbersIn(items)] : members
}

/** Of responses: what is not an integer is an amount. */
const amountNames = [...new Set(Object.values(schemas).flatMap(numbersIn))]

/** The classes of the Python client, by the names of the description. */
const classes = {
  ...{ Currency: 'Currency', Rate: 'Rate', NewTransaction: 'Order', CreatedTransaction: 'CreatedSwap' },
  ...{ ListedTransaction: 'ListedSwap', Transaction: 'Swap', Pair: 'Pair', Rates: 'Rates', AddressToCheck: 'AddressToCheck' },
}

it.runIf(hasPython).each(Object.entries(classes))('the Python client has the fields of %s', (name, type) => {
  const program = `import json, swapgate; t = swapgate.${type}; print(json.dumps([sorted(t.__required_keys__), sorted(t.__annotations__)]))`
  const env = { ...process.env, PYTHONPATH: 'clients/python', PYTHONDONTWRITEBYTECODE: '1' }
  const { stdout } = spawnSync('python3', ['-c', program], { encoding: 'utf8', env })
  const { required = [], properties = {} } = schemas[name] ?? {}
  expect(JSON.parse(stdout)).toEqual([required.toSorted(), Object.keys(properties).sort()])
})

describe.each(languages)('the %s client', (language) => {
  const driver = drivers[language]()
  afterAll(() => driver[Symbol.asyncDispose]())
  const call = (stub: Stub, what: Call, more: Partial<Connection> = {}): Promise<Result> =>
    driver.call({ url: stub.url, key: 'key-1', patienceSeconds: 0, ...more }, what)
  const create = (stub: Stub, more: object = {}, connection: Partial<Connection> = {}): Promise<Result> =>
    call(stub, { name: 'create', order, ...more }, connection)

  it('knows every reason of docs/errors.md', async () => {
    await using stub = await startStub()
    expect((await call(stub, { name: 'reasons' })).value).toEqual(documented.map(({ reason }) => reason))
  })

  describe('has an error for what a caller may do about it', () => {
    it.each(documented.flatMap(({ reason, statuses }) => statuses.map((status) => ({ reason, status }))))(
      '$status $reason',
      async ({ reason, status }) => {
        await using stub = await startStub(refusal(status, reason))
        const { error } = await create(stub)
        expect(error).toMatchObject({ name: errorOf(reason), reason, status, requestId: 'request-1' })
        expect(error?.message).toContain(`It is ${reason}.`)
        expect(stub.received).toHaveLength(1)
      },
    )

    it('says the limits of an amount, and what is wrong with each parameter', async () => {
      const errors = [{ field: 'amount', reason: 'below_minimum', message: 'It is below.' }]
      await using stub = await startStub(
        refusal(400, 'below_minimum', { body: { minAmount: '0.0002', maxAmount: '0.527', errors } }),
      )
      expect((await create(stub)).error).toMatchObject({ name: 'AmountRefused', minAmount: '0.0002', maxAmount: '0.527', errors })
    })

    it.each([
      [400, 'SwapError'],
      [429, 'Limited'],
      [500, 'OutcomeUnknown'],
    ])('takes a reason that it does not know by its status: %i', async (status, name) => {
      await using stub = await startStub(refusal(status, 'brand_new'))
      expect((await create(stub)).error).toMatchObject({ name, reason: 'brand_new', status })
    })

    it.each([
      [404, 'SwapError'],
      [429, 'Limited'],
      [408, 'OutcomeUnknown'],
      [502, 'OutcomeUnknown'],
    ])('takes %i of a proxy as %s', async (status, name) => {
      await using stub = await startStub({ status, body: '<html>' })
      const { error } = await create(stub)
      expect(error).toMatchObject({ name, status })
      expect(error).not.toHaveProperty('reason')
    })
  })

  describe('creates once', () => {
    const again: readonly (readonly [string, readonly Reply[]])[] = [
      ['the connection breaks', [{ breaks: true }, created]],
      ['a proxy returns 502', [{ status: 502, body: '<html>' }, created]],
      ['the gateway is overloaded', [refusal(503, 'overloaded', { retryAfter: 1 }), created]],
      ['the limit is reached', [refusal(429, 'limited', { retryAfter: 1 }), created]],
      [
        'the outcome is unknown',
        [refusal(504, 'outcome_unknown', { retryAfter: 1 }), refusal(409, 'in_progress', { retryAfter: 1 }), created],
      ],
      ['the response cannot be read', [{ status: 201, body: '{"id":' }, created]],
      ['the response is none of the gateway', [{ status: 200, body: { ok: true } }, created]],
    ]
    it.each(again)('under one key, with the same body, though %s', async (_, replies) => {
      await using stub = await startStub(...replies)
      const { value } = await create(stub, {}, { patienceSeconds: 30 })
      expect(value).toMatchObject({ swap, isRepeated: false })
      const [first] = stub.received
      expect(stub.received).toHaveLength(replies.length)
      for (const { key, body } of stub.received) expect([key, body]).toEqual([first?.key, first?.body])
      expect(value).toMatchObject({ idempotencyKey: first?.key })
    })

    it('under a new key for each call, or under that of the caller', async () => {
      await using stub = await startStub(created)
      await create(stub)
      await create(stub)
      await create(stub, { idempotencyKey: 'order-7' })
      const [first, second, own] = stub.received.map(({ key }) => key)
      expect(first).toMatch(/^[0-9a-f-]{36}$/)
      expect(second).not.toBe(first)
      expect(own).toBe('order-7')
    })

    it('and says of a repeated one its newest status, and of each what the gateway warns of', async () => {
      const headers = { 'idempotent-replayed': 'true', 'x-swap-status': 'exchanging', 'x-swap-warning': 'memo_recommended' }
      await using stub = await startStub({ ...created, headers })
      const { value } = await create(stub)
      expect(value).toMatchObject({ isRepeated: true, newestStatus: 'exchanging', warning: 'memo_recommended' })
    })
  })

  describe('never forgets that a swap may exist', () => {
    const forgettable: readonly (readonly [string, string | undefined, readonly Reply[]])[] = [
      ['is refused for its amount', 'below_minimum', [{ breaks: true }, refusal(400, 'below_minimum')]],
      ['is refused for its key', 'key_invalid', [refusal(504, 'outcome_unknown', { retryAfter: 1 }), refusal(401, 'key_invalid')]],
      ['reaches a limit', 'limited', [{ breaks: true }, refusal(429, 'limited', { retryAfter: 60 })]],
      ['finds the gateway overloaded', 'overloaded', [refusal(500, 'internal'), refusal(503, 'overloaded', { retryAfter: 60 })]],
      [
        'gets a 404 of a proxy',
        undefined,
        [
          { status: 201, body: '{"id":' },
          { status: 404, body: '<html>' },
        ],
      ],
      [
        'gets a 404, and the first answers were nested without end',
        undefined,
        [
          { status: 201, body: '['.repeat(200_000) },
          { status: 504, body: '{"errors":'.repeat(100_000) },
          { status: 404, body: '<html>' },
        ],
      ],
      ['cannot connect', undefined, [{ breaks: true, thenCloses: true }]],
    ]
    it.each(forgettable)('when a later try %s', async (_, reason, replies) => {
      await using stub = await startStub(...replies)
      const isTriedToTheEnd = replies.at(-1)?.thenCloses === true
      const { error } = await create(stub, {}, { patienceSeconds: isTriedToTheEnd ? 2 : 30 })
      const [first] = stub.received
      expect(error).toMatchObject({ name: 'OutcomeUnknown', order, repeat: { idempotencyKey: first?.key, isRepeat: true } })
      expect(error?.message).toContain('ask again under the same key')
      expect(error?.reason).toBe(reason)
      expect(stub.received).toHaveLength(replies.length)
    })

    it('when a later call is refused, if the caller says that there was one before', async () => {
      await using stub = await startStub(refusal(429, 'limited', { retryAfter: 60 }))
      const known = { idempotencyKey: 'order-7', provider: 'beta' }
      expect((await create(stub, known)).error?.name).toBe('Limited')
      expect((await create(stub, { ...known, isRepeat: true })).error).toMatchObject({
        name: 'OutcomeUnknown',
        repeat: { ...known, isRepeat: true },
        retryAfter: 60,
      })
      expect(stub.received.map(({ headers }) => headers['x-swap-provider'])).toEqual(['beta', 'beta'])
    })

    it('and knows that nothing was sent if there was never a connection', async () => {
      const stub = await startStub(created)
      await stub[Symbol.asyncDispose]()
      const { error } = await create(stub, {}, { patienceSeconds: 1 })
      expect(error?.name).toBe('Unavailable')
    })

    it('and that a mismatch is the outcome', async () => {
      await using stub = await startStub({ breaks: true }, refusal(502, 'mismatch'))
      expect((await create(stub, {}, { patienceSeconds: 30 })).error?.name).toBe('Mismatch')
    })

    it('and does not follow a redirect', async () => {
      await using target = await startStub(created)
      await using stub = await startStub({ status: 307, headers: { location: `${target.url}/a/api/v2/transactions` } })
      expect((await create(stub, {}, { patienceSeconds: 2 })).error?.name).toBe('OutcomeUnknown')
      expect([stub.received.length, target.received.length]).toEqual([1, 0])
    })

    it('and does not wait for ever for a response that never ends', async () => {
      await using stub = await startStub({ ...created, headers: { 'content-length': '4000' } })
      expect((await create(stub, {}, { timeoutSeconds: 1 })).error?.name).toBe('OutcomeUnknown')
    })
  })

  describe('keeps amounts exact', () => {
    it('asks for texts, and sends one', async () => {
      await using stub = await startStub(created)
      await create(stub, { order: { ...order, amount: '0.1000000000000000000001' } })
      const [{ headers, body } = { headers: {}, body: '' }] = stub.received
      expect(headers).toMatchObject({ prefer: 'amounts=text', authorization: 'Bearer key-1' })
      expect(JSON.parse(body)).toEqual({ ...order, amount: '0.1000000000000000000001' })
    })

    it.each([0.1, '0,1', '.5', '1 ', '', 'NaN', '-1', '0x1'])('sends nothing for %j', async (amount) => {
      await using stub = await startStub(created)
      const calls: readonly Call[] = [
        { name: 'create', order: { ...order, amount } },
        { name: 'rate', query: { coinFrom: 'BTC', coinTo: 'ETH', amount } },
      ]
      for (const what of calls) expect((await call(stub, what)).error?.name).toMatch(/^(?:TypeError|ValueError)$/)
      expect(stub.received).toEqual([])
    })

    it.each(amountNames)('never returns a number that has lost digits as %s', async (name) => {
      for (const digits of ['0.100000000000000000001', '100000000000000000001']) {
        await using stub = await startStub({ body: JSON.stringify({ ...swap, [name]: 'here' }).replace('"here"', digits) })
        const { value, error } = await call(stub, { name: 'get', id: 'alpha~1' })
        if (error) expect(error.message).toContain(`${name} is a number`)
        else expect(value).toMatchObject({ swap: { [name]: digits } })
      }
    })
  })

  describe('waits', () => {
    const seen = (status: string, headers: Record<string, string> = {}): Reply => ({ body: { ...swap, status }, headers })

    it('as long as the gateway says, through its failures, until the swap has ended', async () => {
      const soon = { 'x-swap-poll-after': '1' }
      await using stub = await startStub(
        ...[seen('wait', soon), refusal(503, 'overloaded', { retryAfter: 1 }), seen('wait', soon), { breaks: true as const }],
        ...[seen('exchanging', soon), seen('success')],
      )
      const began = performance.now()
      const { value } = await call(stub, { name: 'waitFor', id: swap.id })
      expect(value).toMatchObject({ swap: { status: 'success' }, statuses: ['wait', 'exchanging', 'success'] })
      expect(performance.now() - began).toBeGreaterThan(4_000)
      expect(stub.received.map(({ path }) => path)).toEqual(Array(6).fill('/a/api/v2/transactions/alpha~1'))
    })

    it('no longer once a person has to look', async () => {
      await using stub = await startStub(seen('exchanging', { 'x-swap-attention': 'held', 'x-swap-stale': '7' }))
      const { value } = await call(stub, { name: 'waitFor', id: swap.id })
      expect(value).toMatchObject({ swap: { status: 'exchanging' }, attention: 'held', staleSeconds: 7 })
    })

    it('no longer than the caller wants', async () => {
      await using stub = await startStub(seen('wait', { 'x-swap-poll-after': '600' }))
      const { error } = await call(stub, { name: 'waitFor', id: swap.id, withinSeconds: 0.3 })
      expect(error?.name).toBe('TimeoutError')
      expect(stub.received).toHaveLength(1)
    })

    it('not at all for a swap that is not there', async () => {
      await using stub = await startStub(refusal(404, 'not_found'))
      expect((await call(stub, { name: 'waitFor', id: 'alpha~2' })).error?.name).toBe('NotFound')
    })
  })

  it('reads lists to their last page', async () => {
    const page = (number: number, ids: readonly string[]): Reply => ({
      body: { data: ids.map((id) => ({ ...swap, id })), pagination: { page: number, size: 2, total: 3 } },
    })
    await using stub = await startStub(page(1, ['alpha~1', 'alpha~2']), page(2, ['alpha~3']))
    const what = { name: 'all', status: 'success', updatedSince: '2026-11-20' } as const
    expect((await call(stub, what)).value).toMatchObject([{ id: 'alpha~1' }, { id: 'alpha~2' }, { id: 'alpha~3' }])
    expect(stub.received.map(({ path }) => path)).toEqual([1, 2].map((at) => expect.stringContaining(`page=${at}&size=100`)))
    for (const { path } of stub.received) expect(path).toMatch(/[?&]status=success&updatedSince=2026-11-20/)
  })
})
