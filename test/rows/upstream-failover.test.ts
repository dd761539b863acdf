/** Rows U1, U2, U12, U13, U15 to U18, U20 and U25 of the reliability matrix: who is asked where a provider fails. Journals are the truth. */
import { afterEach, describe, expect, test } from 'vitest'
import { circuit } from '../../src/adapters/breaker.ts'
import type { MakeBreaker } from '../../src/core/breaker.ts'
import type { Budgets } from '../../src/core/budget.ts'
import type { Answered } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { ownWords } from '../support/own-words.ts'
import type { Operation, Reply } from '../support/stand-in.ts'

interface Rig extends Managed {
  readonly key: string
  readonly rate: () => Promise<Answered>
  readonly currencies: () => Promise<Answered>
  readonly create: () => Promise<Answered>
  readonly get: (id: string) => Promise<Answered>
  /** On the clock of breakers and rests. */
  readonly pass: (seconds: number) => void
}

const open: Managed[] = []
afterEach(async () => {
  for (const managed of open.splice(0)) await managed.close()
})

type Settings = NonNullable<Parameters<typeof startManaged>[0]>

/** Two providers, the first of them Form A, with breakers that open. */
async function start(settings: Settings = {}): Promise<Rig> {
  let now = 1_000_000
  const steadyClock = (): number => now
  const breaker: MakeBreaker = (onState) => circuit({ clock: steadyClock, random: () => 0, onState })
  const providers = { ...settings.providers, alpha: { assets: ownWords, ...settings.providers?.alpha } }
  const managed = await startManaged({ routing: ['alpha', 'beta'], breaker, steadyClock, ...settings, providers })
  open.push(managed)
  const key = await managed.issue()
  const client = managed.client('A')
  return {
    ...managed,
    key,
    rate: () => client.get('/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1'),
    currencies: () => client.get('/currencies'),
    create: () => client.post('/transactions', orderIn('A'), { key }),
    get: (id) => client.get(`/transactions/${id}`, { key }),
    pass(seconds) {
      now += seconds * 1000
    },
  }
}

const down: Reply = { status: 500, json: { error: 'x', message: 'y', code: 500 } }
const everything: readonly Operation[] = ['currencies', 'rate', 'create', 'list', 'get']
const shortTimeouts = { alpha: { timeout: 0.4 }, beta: { timeout: 0.4 } }

function say(provider: Rig['alpha'] | Rig['beta'], reply: Reply): void {
  for (const operation of everything) provider.reply(operation, reply)
}

async function openBreaker(rig: Rig): Promise<void> {
  for (let failed = 0; failed < 5; failed++) await rig.rate()
}

describe.each<[string, Reply]>([
  ['is silent', { delay: 5_000, json: {} }],
  ['resets', { reset: true }],
  ['answers 500', down],
  ['answers nonsense', { text: '}{' }],
])('a first provider that %s', (_, reply) => {
  test('U1, U2: quotes come from the next one, within the one deadline that both share', async () => {
    const rig = await start({ providers: shortTimeouts })
    say(rig.alpha, reply)
    for (const ask of [rig.rate, rig.currencies]) {
      const before = performance.now()
      const answer = await ask()
      expect([answer.status, answer.headers['x-swap-provider']], answer.text).toEqual([200, 'beta'])
      expect(performance.now() - before).toBeLessThan(ask === rig.rate ? 600 : 1_100)
    }
  })

  test('U1, U2: where the next one is so too, the answer is an error in time', async () => {
    const rig = await start({ providers: shortTimeouts })
    say(rig.alpha, reply)
    say(rig.beta, reply)
    const before = performance.now()
    expect([502, 504]).toContain((await rig.rate()).status)
    expect(performance.now() - before).toBeLessThan(600)
  })

  test('U15: after five failures it is not asked any more, neither for quotes nor for creates', async () => {
    const rig = await start({ providers: shortTimeouts })
    say(rig.alpha, reply)
    await openBreaker(rig)
    rig.alpha.journal.length = 0
    const [rate, created] = [await rig.rate(), await rig.create()]
    expect([rate.headers['x-swap-provider'], created.headers['x-swap-provider']]).toEqual(['beta', 'beta'])
    expect(created.status).toBe(201)
    expect(rig.alpha.journal).toEqual([])
    expect(rig.gateway.observations).toContainEqual({ what: 'breaker', provider: 'alpha', state: 'open' })
  })
})

test('U15: after the rest a create does not find out, but a question of the gateway does, and then creates go up again', async () => {
  const rig = await start()
  say(rig.alpha, down)
  await openBreaker(rig)
  rig.alpha.reset()
  rig.pass(30)
  expect((await rig.create()).headers['x-swap-provider']).toBe('beta')
  await expect.poll(() => rig.alpha.received('currencies').length).toBe(1)
  expect(rig.alpha.received('create')).toEqual([])
  await expect.poll(async () => (await rig.create()).headers['x-swap-provider']).toBe('alpha')
})

test('U16: where all rest, reads and creates are 503 with the smaller Retry-After, and nobody is asked', async () => {
  const rig = await start()
  say(rig.alpha, down)
  say(rig.beta, down)
  await openBreaker(rig)
  rig.pass(10)
  rig.alpha.journal.length = 0
  rig.beta.journal.length = 0
  for (const ask of [rig.rate, rig.create]) {
    const answer = await ask()
    expectRefusal(answer, 'A', 503)
    expect(answer.headers['retry-after']).toBe('20')
    expect(answer.headers).not.toHaveProperty('x-swap-provider')
  }
  expect([...rig.alpha.journal, ...rig.beta.journal]).toEqual([])
  const { pending, unknown } = await rig.gateway.bookkeeping.stats(Date.now())
  expect({ pending, unknown }).toEqual({ pending: 0, unknown: 0 })
})

test('U17: of a storm at a provider that fails little comes through, and clients are told soon', async () => {
  const rig = await start({ routing: ['alpha'] })
  say(rig.alpha, down)
  const storm = 300
  const before = performance.now()
  const questions = Array.from({ length: storm }, (_, at) => `/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=${at + 1}`)
  for (const question of questions) expect([502, 503]).toContain((await rig.client('A').get(question)).status)
  expect(rig.alpha.received('rate').length).toBeLessThanOrEqual(7)
  expect(performance.now() - before).toBeLessThan(storm * 30)
})

test('U18: a provider that refuses what clients wrote stays in use', async () => {
  const rig = await start()
  rig.alpha.reply('rate', { status: 400, json: { error: 'x', message: 'Too little', code: 400 } })
  for (let asked = 0; asked < 50; asked++) expect((await rig.rate()).status).toBe(400)
  expect(rig.alpha.received('rate')).toHaveLength(50)
  expect(rig.gateway.observations.filter((seen) => seen.what === 'breaker' && seen.state !== 'closed')).toEqual([])
})

test('U20: a provider that flaps rests longer each time, and what it holds is asked for nowhere else', async () => {
  const rig = await start()
  const { id } = (await rig.create()).json as { id: string }
  const rests: string[] = []
  for (const rest of [30, 60, 90]) {
    say(rig.alpha, down)
    await openBreaker(rig)
    const answer = await rig.get(id)
    expect([answer.status, answer.headers['x-swap-provider']]).toEqual([200, 'alpha'])
    expect(answer.headers).toHaveProperty('x-swap-stale')
    rig.alpha.reset()
    rig.pass(rest - 1)
    rests.push(String((await rig.rate()).headers['x-swap-provider']))
    rig.pass(1)
    rests.push(String((await rig.rate()).headers['x-swap-provider']))
    rig.pass(2)
  }
  expect(rests).toEqual(['beta', 'alpha', 'beta', 'alpha', 'beta', 'alpha'])
  expect(rig.beta.received('get')).toEqual([])
})

test('U12: a provider that has had enough rests as long as it says, its quotes alone; clients never see its figures', async () => {
  const rig = await start({ routing: ['alpha'] })
  const limited: Reply = { status: 429, headers: { 'retry-after': '17' }, json: { error: 'x', message: 'quota 12345', code: 429 } }
  rig.alpha.reply('rate', limited)
  for (let asked = 0; asked < 3; asked++) {
    const answer = await rig.rate()
    expect(expectRefusal(answer, 'A', 503)).not.toContain('12345')
    expect(answer.headers['retry-after']).toBe('17')
  }
  expect(rig.alpha.received('rate')).toHaveLength(1)
  expect((await rig.create()).status).toBe(201)
  rig.alpha.reset()
  rig.pass(17)
  expect((await rig.rate()).status).toBe(200)
})

test('U12: while the first provider rests, quotes and creates go to the next one', async () => {
  const rig = await start()
  const limited: Reply = { status: 429, headers: { 'retry-after': '17' }, json: { error: 'x', message: 'y', code: 429 } }
  rig.alpha.reply('rate', limited)
  rig.alpha.reply('create', limited)
  expect(expectRefusal(await rig.create(), 'A', 503)).toBeTruthy()
  const [rate, created] = [await rig.rate(), await rig.create()]
  expect([rate.headers['x-swap-provider'], created.headers['x-swap-provider']]).toEqual(['beta', 'beta'])
  expect([rig.alpha.received('create').length, rig.beta.received('create').length]).toEqual([1, 1])
})

test('U13: a provider that refuses our own key is out for a while; clients are never told 401', async () => {
  const rig = await start()
  rig.alpha.reply('create', { status: 401, json: { error: 'x', message: 'Invalid API key', code: 401 } })
  for (let asked = 0; asked < 2; asked++) expectRefusal(await rig.create(), 'A', 502)
  const [rate, created] = [await rig.rate(), await rig.create()]
  expect([rate.headers['x-swap-provider'], created.headers['x-swap-provider'], created.status]).toEqual(['beta', 'beta', 201])
  expect(rig.gateway.observations).toContainEqual({ what: 'rest', provider: 'alpha', reason: 'keyRefused' })
  expect(rig.alpha.received('create')).toHaveLength(2)
  rig.alpha.reset()
  rig.pass(30)
  expect((await rig.create()).headers['x-swap-provider']).toBe('alpha')
})

/** So many calls of each bucket, and no more. */
function counted(limits: Readonly<Record<string, number>>): Budgets {
  const left = new Map(Object.entries(limits))
  return {
    async reserve(bucket) {
      const remaining = (left.get(bucket) ?? Number.POSITIVE_INFINITY) - 1
      left.set(bucket, remaining)
      return { isGranted: remaining >= 0, remaining: Math.max(0, remaining), retryAfter: 9 }
    },
  }
}

describe('a budget that is used up', () => {
  test('moves quotes and creates on to the next provider; where all are, 503 with the time to wait', async () => {
    const limits = { 'alpha:quotes': 1, 'alpha:create': 1, 'beta:create': 1 }
    const rig = await start({ budgets: counted(limits), sections: { cache: { currencies: 600, rate: 0, staleFor: 0 } } })
    const rates = [await rig.rate(), await rig.rate()].map(({ headers }) => headers['x-swap-provider'])
    const creates = [await rig.create(), await rig.create()].map(({ headers }) => headers['x-swap-provider'])
    expect([rates, creates]).toEqual([
      ['alpha', 'beta'],
      ['alpha', 'beta'],
    ])
    const refused = await rig.create()
    expectRefusal(refused, 'A', 503)
    expect(refused.headers['retry-after']).toBe('9')
    expect([rig.alpha.received('create').length, rig.beta.received('create').length]).toEqual([1, 1])
  })

  test('serves a transaction as it was last seen', async () => {
    const rig = await start({ budgets: counted({ 'alpha:read': 0 }) })
    const { id } = (await rig.create()).json as { id: string }
    const answer = await rig.get(id)
    expect(answer.status).toBe(200)
    expect(answer.headers).toHaveProperty('x-swap-stale')
    expect(rig.alpha.received('get')).toEqual([])
  })

  test('leaves the Idempotency-Key free', async () => {
    const rig = await start({ routing: ['alpha'], budgets: counted({ 'alpha:create': 0 }) })
    const client = rig.client('A')
    const options = { key: rig.key, headers: { 'idempotency-key': 'order-1' } }
    for (let asked = 0; asked < 2; asked++) expectRefusal(await client.post('/transactions', orderIn('A'), options), 'A', 503)
    expect((await rig.gateway.bookkeeping.stats(Date.now())).pending).toBe(0)
  })
})
