import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Intent, TransactionRecord } from '../../src/core/ports/ledger.ts'
import type { Amount } from '../../src/domain/amount.ts'
import type { NewTransaction, Transaction } from '../../src/domain/swap.ts'
import { addSteps } from '../ledger/later-steps.ts'
import { Place } from './place.ts'

const now = Date.parse('2026-11-20T10:00:00Z')

let place: Place
let stores: Awaited<ReturnType<Place['stores']>>
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now })
  place = new Place()
  stores = await place.stores()
})
afterEach(async () => {
  await stores.close()
  place[Symbol.dispose]()
  vi.useRealTimers()
})

const requested = {
  coinFrom: 'BTC',
  networkFrom: 'BTC',
  coinTo: 'USDT',
  networkTo: 'TRX',
  amountIn: '0.10' as Amount,
  withdrawalAddress: 'TQn9',
  rateType: 'float' as const,
} satisfies NewTransaction

function intentOf(id: string, more: Partial<Intent> = {}): Intent {
  return { id, owner: 'acme', provider: 'alpha', requested, attemptedAt: now - 60_000, nextCheckAt: now - 50_000, ...more }
}

function factsOf(id: string, more: Partial<Transaction> = {}): TransactionRecord {
  const transaction: Transaction = {
    ...requested,
    id,
    status: 'wait',
    amountOut: '9425.243471' as Amount,
    depositAddress: `bc1q-${id}`,
    createdAt: '2026-11-20T09:59:00Z',
    ...more,
  }
  return { transaction, derived: [], reportedAt: now }
}

async function created(id: string, transaction: Partial<Transaction> = {}, intent: Partial<Intent> = {}): Promise<void> {
  const facts = factsOf(id, transaction)
  const attemptedAt = Date.parse(facts.transaction.createdAt)
  await stores.ledger.begin(intentOf(`create-${id}`, { attemptedAt, ...intent }))
  await stores.ledger.complete(`create-${id}`, facts)
}

async function unknownCreate(intent: string, more: Partial<Intent> = {}): Promise<void> {
  await stores.ledger.begin(intentOf(intent, more))
  await stores.ledger.markUnknown(intent, now)
}

describe('swapgate ledger stats', () => {
  it('counts what is there', async () => {
    expect(await place.facts('ledger', 'stats')).toEqual({
      ...{
        entries: [],
        pending: 0,
        unknown: 0,
        mismatches: 0,
        needPerson: 0,
        ...{ idempotencyKeys: 0, claims: 0 },
        accounts: 0,
        validKeys: 0,
        oldestAttempt: null,
      },
    })
    await created('one')
    await created('two', { status: 'success' })
    await created('three', { status: 'success' }, { provider: 'beta' })
    await unknownCreate('in-doubt', { idempotencyKey: { key: 'order-1', fingerprint: 'f' } })
    await stores.ledger.begin(intentOf('running', { attemptedAt: now }))
    await place.swapgate('keys', 'create', '--name', 'acme')
    const stats = await place.facts<{ entries: readonly unknown[] }>('ledger', 'stats')
    expect(stats).toEqual({
      entries: expect.any(Array),
      ...{ pending: 1, unknown: 1, mismatches: 0, needPerson: 0, idempotencyKeys: 1, claims: 1, accounts: 1, validKeys: 1 },
      oldestAttempt: '2026-11-20T09:59:00.000Z',
    })
    expect(stats.entries).toHaveLength(3)
    expect(stats.entries).toEqual(
      expect.arrayContaining([
        { provider: 'alpha', status: 'wait', count: 1 },
        { provider: 'alpha', status: 'success', count: 1 },
        { provider: 'beta', status: 'success', count: 1 },
      ]),
    )
  })

  it('counts a status that is not mapped as null', async () => {
    await created('one', { status: undefined })
    expect(await place.facts('ledger', 'stats')).toMatchObject({ entries: [{ provider: 'alpha', status: null, count: 1 }] })
    expect((await place.swapgate('ledger', 'stats')).out[0]).toBe('transactions at alpha, unknown status  1')
  })

  it('is a table for people', async () => {
    await created('one')
    await unknownCreate('in-doubt')
    const { exitCode, out } = await place.swapgate('ledger', 'stats')
    expect(exitCode).toBe(0)
    expect(out).toEqual([
      'transactions at alpha, wait            1',
      'creates running or interrupted         0',
      'creates with an unknown outcome        1, the oldest from 2026-11-20T09:59:00.000Z',
      'creates with a contradicting response  0',
      'transactions that need a person        0',
      'idempotency keys                       0',
      'accounts                               0',
      'valid keys                             0',
    ])
  })
})

describe('swapgate ledger unknown', () => {
  it('lists the unresolved creates with their requests', async () => {
    await created('one')
    await unknownCreate('in-doubt')
    await stores.ledger.markUnknown('in-doubt', now, 'timed_out')
    await stores.ledger.begin(intentOf('other', { attemptedAt: now - 30_000 }))
    await stores.ledger.markMismatch('other', factsOf('odd', { coinTo: 'BTC' }).transaction, ['coinTo'])
    await stores.ledger.begin(intentOf('repeated', { attemptedAt: now - 20_000 }))
    expect(await stores.ledger.complete('repeated', factsOf('one'))).toBe(false)
    const listed = await place.facts<readonly Record<string, unknown>[]>('ledger', 'unknown')
    expect(listed).toEqual([
      {
        ...{ intent: 'in-doubt', owner: 'acme', account: null, provider: 'alpha', state: 'unknown', reason: 'timed_out' },
        ...{ attemptedAt: '2026-11-20T09:59:00.000Z', requested, reported: null },
      },
      {
        ...{ intent: 'other', owner: 'acme', account: null, provider: 'alpha', state: 'mismatch', reason: 'coinTo', requested },
        ...{ attemptedAt: '2026-11-20T09:59:30.000Z', reported: { id: 'odd', fields: ['coinTo'] } },
      },
      {
        ...{ intent: 'repeated', owner: 'acme', account: null, provider: 'alpha', state: 'mismatch', reason: 'id', requested },
        ...{ attemptedAt: '2026-11-20T09:59:40.000Z', reported: { id: 'one', fields: ['id'] } },
      },
    ])
    expect((await place.swapgate('ledger', 'unknown')).out).toEqual([
      'intent    state     provider  attempted                 account  reason     request                   reported',
      'in-doubt  unknown   alpha     2026-11-20T09:59:00.000Z           timed_out  0.10 BTC to USDT at TQn9',
      'other     mismatch  alpha     2026-11-20T09:59:30.000Z           coinTo     0.10 BTC to USDT at TQn9  odd, which differs in coinTo',
      'repeated  mismatch  alpha     2026-11-20T09:59:40.000Z           id         0.10 BTC to USDT at TQn9  one, an id that another create has or had',
    ])
  })

  it('names what may be the transaction of a refused create, for a person to decide', async () => {
    const refused = intentOf('turned-away', { deadline: now })
    await stores.ledger.begin(refused)
    await stores.ledger.drop(refused.id, now)
    const [due] = await stores.ledger.dueRefusedCreates(now, 1, undefined)
    if (!due) throw new Error('no check is due')
    await stores.ledger.keepCandidates(due, ['one', 'two'])
    expect((await place.swapgate('ledger', 'unknown')).out.at(-1)).toMatch(
      /TQn9 {2}may be one, two, although the provider refused the create$/,
    )
    expect((await place.swapgate('ledger', 'resolve', 'turned-away', '--accept')).err).toEqual([
      'swapgate: the create turned-away was refused, so there is no response to accept',
    ])
    expect((await place.swapgate('ledger', 'resolve', 'turned-away', '--none')).exitCode).toBe(0)
    expect(await stores.ledgerAdmin.unresolved()).toEqual([])
  })

  it('reports that no create is unresolved', async () => {
    await created('one')
    expect(await place.facts('ledger', 'unknown')).toEqual([])
    expect((await place.swapgate('ledger', 'unknown')).out).toEqual(['No create is unresolved, and no transaction needs a person.'])
  })
})

describe('swapgate ledger find', () => {
  beforeEach(async () => {
    await place.swapgate('keys', 'create', '--name', 'acme')
    const [{ id = '' } = {}] = await place.facts<{ id?: string }[]>('keys', 'list')
    await created('one', {}, { requestId: 'ticket-77', keyId: id, idempotencyKey: { key: 'order-1', fingerprint: 'f' } })
    await unknownCreate('in-doubt', { requestId: 'ticket-78' })
  })

  it('prints what a text finds, as a table and as JSON', async () => {
    const { exitCode, out } = await place.swapgate('ledger', 'find', 'order-1')
    expect([exitCode, out]).toEqual([
      0,
      [
        'transaction or intent  state  attempted                 account  request    order                    found by',
        'alpha~one              wait   2026-11-20T09:59:00.000Z           ticket-77  0.10 BTC to USDT at TQ…  idempotencyKey',
      ],
    ])
    expect(await place.facts('ledger', 'find', 'ticket-78')).toMatchObject([
      { intent: 'in-doubt', id: null, state: 'unknown', requestId: 'ticket-78', withdrawalAddress: 'TQ…', matched: ['requestId'] },
    ])
  })

  it('says what else may help if there is nothing', async () => {
    expect(await place.swapgate('ledger', 'find', 'ticket-79')).toEqual({
      exitCode: 0,
      out: ['The ledger has nothing of it. The log has every request by its id, also the refused ones.'],
      err: [],
    })
    expect(await place.facts('ledger', 'find', '%')).toEqual([])
  })

  it('says that there are more than it prints', async () => {
    for (let n = 0; n < 5; n++) await created(`more-${n}`)
    const { out } = await place.swapgate('ledger', 'find', 'TQn9', '--limit', '3')
    expect(out).toHaveLength(5)
    expect(out.at(-1)).toBe('There are more: these are the newest 3; --limit shows others.')
    expect(await place.facts<unknown[]>('ledger', 'find', 'TQn9')).toHaveLength(7)
  })

  it.each([['find'], ['find', ' '], ['find', 'a\u0007b'], ['find', 'x', '--limit', '0'], ['find', 'x', 'y']])(
    'takes %j for wrong usage',
    async (...args) => {
      expect((await place.swapgate('ledger', ...args)).exitCode).toBe(2)
    },
  )
})

describe('swapgate ledger unknown --find', () => {
  it('lists what needs a person of what the text finds', async () => {
    await unknownCreate('one', { requestId: 'ticket-1' })
    await unknownCreate('two', { requestId: 'ticket-2', idempotencyKey: { key: 'order-2', fingerprint: 'f' } })
    await created('held', { attention: 'held' }, { requestId: 'ticket-3' })
    await created('done', {}, { requestId: 'ticket-3' })
    const found = async (text: string) =>
      (await place.facts<readonly { intent?: string; id?: string }[]>('ledger', 'unknown', '--find', text)).map(
        ({ intent, id }) => intent ?? id,
      )
    expect(await found('ticket-1')).toEqual(['one'])
    expect(await found('order-2')).toEqual(['two'])
    expect(await found('ticket-3')).toEqual(['alpha~held'])
    expect(await found('TQn9')).toEqual(['one', 'two', 'alpha~held'])
    expect(await found('ticket-4')).toEqual([])
    expect((await place.swapgate('ledger', 'unknown', '--find', 'ticket-4')).out).toEqual([
      'No create is unresolved, and no transaction needs a person.',
    ])
    expect((await place.swapgate('ledger', 'unknown', '--find', ' ')).exitCode).toBe(2)
  })
})

describe('swapgate ledger show', () => {
  it('prints a swap with what happened to it, by its id or its intent', async () => {
    await created('one', {}, { requestId: 'ticket-77', keyId: 'key-1' })
    const at = now - 59_000
    await stores.timelines.append([
      {
        key: { intent: 'create-one' },
        events: [
          {
            at,
            event: 'routed',
            provider: 'alpha',
            strategy: 'weighted',
            because: 'weight',
            omitted: [{ provider: 'beta', because: 'off' }],
          },
          { at, event: 'compared', provider: 'beta', reason: 'too_slow' },
          { at, event: 'passed_over', provider: 'gamma', reason: 'provider_busy', because: 'breaker' },
          {
            at,
            event: 'call',
            provider: 'alpha',
            operation: 'create_transaction',
            outcome: 'unreachable',
            cause: 'dns_timeout',
            milliseconds: 12,
          },
          { at, event: 'outcome', outcome: 'mismatch', fields: ['coinTo'] },
          { at, event: 'search', outcome: 'ambiguous', candidates: 2, calls: [] },
          { at, event: 'status', from: 'wait', to: 'sending', attention: 'held' },
          { at, event: 'status', from: 'wait', to: 'sending', attention: 'held' },
          { at, event: 'person', actor: 'alice', action: 'transaction.settle', decision: { status: 'refunded' } },
        ],
      },
    ])
    const { exitCode, out } = await place.swapgate('ledger', 'show', 'alpha~one')
    expect(exitCode).toBe(0)
    expect(out).toEqual([
      'transaction  alpha~one',
      'intent       create-one',
      'state        wait',
      'provider     alpha',
      'account',
      'order        0.10 BTC to USDT at TQ…',
      'last read    never; what is known is 0 s old',
      'owner sees   wait',
      '',
      '2026-11-20T09:59:00.000Z  requested    request ticket-77 with the key key-1',
      '2026-11-20T09:59:01.000Z  routed       to alpha: weighted, weight; beta is off',
      '2026-11-20T09:59:01.000Z  compared     beta too_slow',
      '2026-11-20T09:59:01.000Z  passed_over  gamma does not take it: provider_busy, breaker',
      '2026-11-20T09:59:01.000Z  call         create_transaction at alpha: no response, unreachable, dns_timeout, 12 ms',
      '2026-11-20T09:59:01.000Z  outcome      mismatch, differs in coinTo',
      '2026-11-20T09:59:01.000Z  search       ambiguous; 2 candidates',
      '2026-11-20T09:59:01.000Z  status       wait to sending, held',
      '2026-11-20T09:59:01.000Z  person       alice: transaction.settle {"status":"refunded"}',
    ])
    expect((await place.facts<{ timeline: readonly unknown[] }>('ledger', 'show', 'create-one')).timeline).toHaveLength(9)
  })

  it('refuses an id that is not there', async () => {
    const { exitCode, err } = await place.swapgate('ledger', 'show', 'alpha~none')
    expect([exitCode, err]).toEqual([
      1,
      ['swapgate: the ledger has no create and no transaction alpha~none; swapgate ledger find looks for other ids'],
    ])
  })
})

describe('swapgate ledger resolve', () => {
  it.each(['tx-1', 'alpha~tx-1'])('binds a create to its owner by the id %s', async (id) => {
    await unknownCreate('in-doubt')
    expect(await place.swapgate('ledger', 'resolve', 'in-doubt', '--bind', id, '--force')).toEqual({
      exitCode: 0,
      out: [
        'The create in-doubt is now the transaction alpha~tx-1 of its owner.',
        'It was not read at the provider: nothing was compared.',
        'Its deposit address is judged at the first get that has one.',
      ],
      err: [],
    })
    expect((await stores.ledger.find('acme', 'alpha', 'tx-1'))?.transaction.amountIn).toBe('0.10')
    expect(await stores.ledger.find('umbrella', 'alpha', 'tx-1')).toBeUndefined()
    expect(await place.facts('ledger', 'unknown')).toEqual([])
  })

  it.each(['beta~tx-1', '~tx-1', 'alpha~', '..', `alpha~${'x'.repeat(257)}`])(
    'refuses %s, which is not an id at the provider of the create',
    async (id) => {
      await unknownCreate('in-doubt')
      const result = await place.swapgate('ledger', 'resolve', 'in-doubt', '--bind', id)
      expect(result).toEqual({ exitCode: 1, out: [], err: [`swapgate: ${id} is not an id at alpha, the provider of this create`] })
      expect(await place.facts('ledger', 'unknown')).toHaveLength(1)
    },
  )

  it('refuses an id that the ledger has given already', async () => {
    await created('one', {}, { owner: 'umbrella' })
    await unknownCreate('in-doubt')
    const result = await place.swapgate('ledger', 'resolve', 'in-doubt', '--bind', 'one', '--force')
    expect(result).toEqual({ exitCode: 1, out: [], err: ['swapgate: alpha~one is already in the ledger'] })
    expect((await stores.ledger.find('umbrella', 'alpha', 'one'))?.owner).toBe('umbrella')
  })

  it('L29: binds nothing unread with the provider’s own keys, which only clients have', async () => {
    await unknownCreate('in-doubt')
    const result = await place.swapgate('ledger', 'resolve', 'in-doubt', '--bind', 'tx-1')
    const why = 'alpha~tx-1 cannot be read at the provider: only its owner has the key for it; --force binds it without reading'
    expect(result).toEqual({ exitCode: 1, out: [], err: [`swapgate: ${why}`] })
    expect(await place.facts('ledger', 'unknown')).toHaveLength(1)
  })

  it('L29: after a bind without a read, never shows the requested memo as if the provider had reported it', async () => {
    await unknownCreate('in-doubt', { requested: { ...requested, withdrawalExtraId: 'memo-7' } })
    await place.swapgate('ledger', 'resolve', 'in-doubt', '--bind', 'tx-1', '--force')
    expect((await stores.ledger.find('acme', 'alpha', 'tx-1'))?.transaction).not.toHaveProperty('withdrawalExtraId')
  })

  it.each([[['--none', '--force']], [['--bind', 'x', '--none']], [['--force']]])('takes %j for wrong usage', async (how) => {
    await unknownCreate('in-doubt')
    expect((await place.swapgate('ledger', 'resolve', 'in-doubt', ...how)).exitCode).toBe(2)
  })

  it('forgets a create that did not happen, so that its Idempotency-Key is free', async () => {
    const idempotencyKey = { key: 'order-1', fingerprint: 'f' }
    await unknownCreate('in-doubt', { idempotencyKey })
    const { exitCode, out } = await place.swapgate('ledger', 'resolve', 'in-doubt', '--none')
    expect([exitCode, out.length]).toEqual([0, 1])
    expect(await place.facts('ledger', 'unknown')).toEqual([])
    expect(await stores.ledger.begin(intentOf('again', { idempotencyKey }))).toBe(true)
  })

  it('leaves alone what may still be running', async () => {
    await stores.ledger.begin(intentOf('running', { attemptedAt: now }))
    for (const how of [['--none'], ['--bind', 'tx-1']]) {
      const { exitCode, err } = await place.swapgate('ledger', 'resolve', 'running', ...how)
      expect([exitCode, err]).toEqual([1, ['swapgate: the create running may still be running; please try again in a minute']])
    }
    vi.setSystemTime(now + 10_000)
    expect((await place.swapgate('ledger', 'resolve', 'running', '--none')).exitCode).toBe(0)
  })

  it('does not free the key of a create before its deadline, also where another process has begun to look for it', async () => {
    await stores.ledger.begin(intentOf('looked-for', { attemptedAt: now, deadline: now + 60_000, nextCheckAt: now }))
    const [due] = await stores.ledger.dueCreates(now, 1, undefined)
    if (!due) throw new Error('no check is due')
    await stores.ledger.scheduleNextCheck(due, now + 30_000)
    expect(await stores.ledgerAdmin.findUnresolved('looked-for')).toMatchObject({ state: 'unknown' })
    expect((await place.swapgate('ledger', 'resolve', 'looked-for', '--none')).exitCode).toBe(1)
  })

  it('asks the deadline of the create whether it may be running, not the timeout of today', async () => {
    await stores.ledger.begin(intentOf('running', { attemptedAt: now, deadline: now + 60_000 }))
    vi.setSystemTime(now + 30_000)
    expect((await place.swapgate('ledger', 'resolve', 'running', '--none')).exitCode).toBe(1)
    vi.setSystemTime(now + 60_001)
    expect((await place.swapgate('ledger', 'resolve', 'running', '--none')).exitCode).toBe(0)
  })

  it('resolves at once a create that ended with an unknown outcome', async () => {
    await unknownCreate('in-doubt', { attemptedAt: now })
    expect((await place.swapgate('ledger', 'resolve', 'in-doubt', '--none')).exitCode).toBe(0)
  })

  it('takes all behind the first ~ for the id at the provider', async () => {
    await unknownCreate('in-doubt')
    expect((await place.swapgate('ledger', 'resolve', 'in-doubt', '--bind', 'alpha~a~b', '--force')).exitCode).toBe(0)
    expect(await stores.ledger.find('acme', 'alpha', 'a~b')).toBeDefined()
  })

  it('refuses a create that is not in doubt', async () => {
    await created('one')
    for (const intent of ['create-one', 'nothing']) {
      const result = await place.swapgate('ledger', 'resolve', intent, '--none')
      expect(result).toEqual({ exitCode: 1, out: [], err: [`swapgate: no unresolved create has the intent ${intent}`] })
    }
    expect(await stores.ledger.find('acme', 'alpha', 'one')).toBeDefined()
  })
})

describe('swapgate ledger export', () => {
  const first = { createdAt: '2026-11-18T23:59:59.999Z' }
  const second = { createdAt: '2026-11-19T00:00:00Z' }

  it('prints an object a line, with the digits of the provider and the tagged id', async () => {
    await created('one')
    const { exitCode, out } = await place.swapgate('ledger', 'export')
    expect(exitCode).toBe(0)
    expect(out.map((line) => JSON.parse(line))).toEqual([
      {
        ...requested,
        ...{
          id: 'alpha~one',
          owner: 'acme',
          isCreated: true,
          status: 'wait',
          amountOut: '9425.243471',
          depositAddress: 'bc1q-one',
        },
        ...{
          createdAt: '2026-11-20T09:59:00Z',
          derived: [],
          reportedAt: '2026-11-20T10:00:00.000Z',
          fetchedAt: null,
          changedAt: null,
        },
      },
    ])
  })

  it.each([0, 1, 3])('prints one array of %i with --json', async (count) => {
    for (let at = 0; at < count; at++) await created(`tx-${at}`)
    const entries = await place.facts<readonly { id: string }[]>('ledger', 'export')
    expect(entries.map(({ id }) => id).sort()).toEqual(Array.from({ length: count }, (_, at) => `alpha~tx-${at}`))
  })

  it.each([
    ['2026-11-19', ['alpha~two']],
    ['2026-11-18T23:59:59.999Z', ['alpha~one', 'alpha~two']],
    ['2026-11-19T01:00:00+01:00', ['alpha~two']],
    ['2026-11-20', []],
  ])('since %s', async (since, ids) => {
    await created('one', first)
    await created('two', second)
    const { out } = await place.swapgate('ledger', 'export', '--since', since)
    expect(out.map((line) => JSON.parse(line).id).sort()).toEqual(ids)
  })
})

describe('swapgate ledger prune', () => {
  it('deletes swaps that have ended and were created before, and prints their number', async () => {
    await created('ended', { status: 'success', createdAt: '2026-10-31T23:59:59Z' })
    await created('refunded', { status: 'refunded', createdAt: '2026-10-01T00:00:00Z' })
    await created('waiting', { createdAt: '2026-10-31T23:59:59Z' })
    await created('later', { status: 'success', createdAt: '2026-11-01T00:00:00Z' })
    const { exitCode, out } = await place.swapgate('ledger', 'prune', '--before', '2026-11-01')
    expect([exitCode, out]).toEqual([0, ['Deleted: 2 finished transactions.']])
    const left = await place.facts<readonly { id: string }[]>('ledger', 'export')
    expect(left.map(({ id }) => id).sort()).toEqual(['alpha~later', 'alpha~waiting'])
    expect(await place.facts('ledger', 'prune', '--before', '2026-11-02')).toEqual({
      pruned: 1,
      kept: { overdue: 0, recentKey: 0, unresolved: 0, attention: 0 },
    })
  })

  it('L49: prints which ended swaps are kept, and why', async () => {
    const idempotencyKey = { key: 'order-1', fingerprint: 'f' }
    await created('keyed', { status: 'success' }, { idempotencyKey })
    await created('late', { status: 'overdue' })
    await created('ended', { status: 'refunded', createdAt: '2026-11-19T00:00:00Z' })
    const { exitCode, out } = await place.swapgate('ledger', 'prune', '--before', '2026-11-21')
    expect([exitCode, out]).toEqual([
      0,
      [
        'Deleted: 1 finished transactions.',
        'Kept: 1 that are overdue for less than 30 days: a late deposit may still complete them.',
        'Kept: 1 with an Idempotency-Key younger than 24 hours.',
      ],
    ])
    await unknownCreate('unsettled')
    expect((await place.swapgate('ledger', 'prune', '--before', '2026-11-21')).out.at(-1)).toBe(
      'Kept: 2 that may belong to an unresolved create; swapgate ledger unknown lists these creates.',
    )
  })

  it.each(['yesterday', '2026-02-30', '2026-11-20T10:00:00', '1700000000', ''])('refuses the date "%s"', async (date) => {
    await created('ended', { status: 'success', createdAt: '2020-01-01T00:00:00Z' })
    const { exitCode, out, err } = await place.swapgate('ledger', 'prune', '--before', date)
    expect([exitCode, out]).toEqual([2, []])
    expect(err[0]).toContain('It must be a date like 2026-11-20')
    expect((await place.swapgate('ledger', 'export', '--since', date)).exitCode).toBe(2)
    expect(await place.facts('ledger', 'export')).toHaveLength(1)
  })
})

describe('wrong usage', () => {
  it.each([
    ['no command', []],
    ['a resolution without an outcome', ['resolve', 'x']],
    ['a resolution with two', ['resolve', 'x', '--none', '--bind', 'y']],
    ['a prune without a date', ['prune']],
  ])('is %s: 2', async (_, args) => {
    const { exitCode, out } = await place.swapgate('ledger', ...args)
    expect([exitCode, out]).toEqual([2, []])
  })
})

it('every command reports a ledger that cannot be opened in one line', async () => {
  using elsewhere = new Place({ ledgerUrl: 'sqlite:/dev/null/ledger.db' })
  for (const args of [['stats'], ['unknown'], ['resolve', 'x', '--none'], ['export'], ['prune', '--before', '2026-01-01']]) {
    const { exitCode, out, err } = await elsewhere.swapgate('ledger', ...args)
    expect([exitCode, out]).toEqual([1, []])
    expect(err).toEqual([expect.stringMatching(/^swapgate: The ledger in \/dev\/null\/ledger.db cannot be opened: [^\n]+$/)])
  }
})

describe('swapgate ledger migrate', () => {
  it('only this command migrates a ledger of an older version', async () => {
    await created('one')
    await stores.close()
    using _ = addSteps({ notes: 2, 'more notes': 3 })
    const refused = {
      exitCode: 1,
      out: [],
      err: [
        `swapgate: The ledger in ${place.ledgerUrl.replace('sqlite:', '')} cannot be opened: an older swapgate has migrated it: start the gateway of this version, or run swapgate ledger migrate.`,
      ],
    }
    for (const command of ['keys list', 'keys create --name acme', 'ledger stats', 'ledger export', 'providers status', 'audit'])
      expect(await place.swapgate(...command.split(' '))).toEqual(refused)
    expect(await place.swapgate('ledger', 'migrate')).toEqual({
      exitCode: 0,
      out: ['The ledger now has the schema of this version. Migrations: notes, more notes.'],
      err: [],
    })
    expect(await place.facts('ledger', 'migrate')).toEqual({ migrations: [] })
    expect((await place.swapgate('ledger', 'migrate')).out).toEqual(['The ledger already has the schema of this version.'])
    expect((await place.swapgate('ledger', 'export')).out).toHaveLength(1)
  })

  it('makes a ledger that does not exist', async () => {
    using empty = new Place()
    expect(await empty.facts('ledger', 'migrate')).toMatchObject({
      migrations: ['schema 1'],
    })
    expect((await empty.swapgate('keys', 'list')).exitCode).toBe(0)
  })
})
