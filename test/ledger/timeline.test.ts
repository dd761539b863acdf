/** docs/operating.md: what happened to a swap is kept in the ledger, in bounds, and goes with it. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { Timelines } from '../../src/core/timelines.ts'
import type { TimelineEvent } from '../../src/domain/timeline.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { facts, intent } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const unknown = (at: number): TimelineEvent => ({ at, event: 'outcome', outcome: 'unknown' })
const changed = (at: number): TimelineEvent => ({ at, event: 'status', from: 'wait', to: 'sending', attention: null })

describeStores(allStores, (shared) => {
  test('events are kept by the create or by the id at the provider, and read in the order of their times', async () => {
    const { ledger, ledgerAdmin, timelines } = await shared().openNew()
    const [one, other] = [intent(), intent()]
    for (const create of [one, other]) await ledger.begin(create)
    await ledger.complete(one.id, facts('x'))
    await timelines.append([
      { key: { intent: one.id }, events: [unknown(3), unknown(1)] },
      { key: { provider: 'alpha', id: 'x' }, events: [changed(2)] },
      { key: { intent: other.id }, events: [unknown(9)] },
      { key: { intent: 'none' }, events: [unknown(4)] },
      { key: { provider: 'beta', id: 'x' }, events: [changed(4)] },
      { key: { intent: "' OR 1=1" }, events: [unknown(4)] },
    ])
    for (const id of [one.id, 'alpha~x'])
      expect(await ledgerAdmin.timeline(id)).toMatchObject({
        swap: { intent: one.id, state: 'done' },
        events: [unknown(1), changed(2), unknown(3)],
      })
    expect((await ledgerAdmin.timeline(other.id))?.events).toEqual([unknown(9)])
    for (const id of ['none', 'beta~x', 'x', '%']) expect(await ledgerAdmin.timeline(id)).toBeUndefined()
  })

  test('a swap has at most 200 rows, and its first ones are kept', async () => {
    const { ledger, ledgerAdmin, timelines } = await shared().openNew()
    const { id } = intent()
    await ledger.begin(intent({ id }))
    for (let at = 0; at < 210; at++) await timelines.append([{ key: { intent: id }, events: [unknown(at)] }])
    const { events = [] } = (await ledgerAdmin.timeline(id)) ?? {}
    expect(events.map(({ at }) => at)).toEqual(Array.from({ length: 200 }, (_, at) => at))
  })

  test('reads that failed are one event of a swap, over processes, until a get has read it', async () => {
    const { ledger, ledgerAdmin, timelines, failedReads } = await shared().openNew()
    const { id } = intent()
    await ledger.begin(intent({ id }))
    await ledger.complete(id, facts('x', {}, { reportedAt: 100, fetchedAt: 100 }))
    for (let at = 0; at < 210; at++) await timelines.append([{ key: { intent: id }, events: [unknown(at)] }])
    const failed = (since: number, at: number, tries: number, outcome = 'timed_out') =>
      ({ provider: 'alpha', id: 'x', event: 'reads_failed', since, at, tries, outcome, owner: 'last_known' }) as const
    const noted = async () => (await ledgerAdmin.timeline(id))?.events.filter(({ event }) => event === 'reads_failed')
    await failedReads.note([failed(200, 200, 1), { ...failed(200, 200, 1), id: 'none' }])
    await failedReads.note([failed(190, 300, 2, 'failed')])
    await failedReads.note([failed(200, 250, 3)])
    expect(await noted()).toEqual([
      { event: 'reads_failed', since: 190, at: 300, tries: 6, outcome: 'failed', owner: 'last_known' },
    ])
    expect((await ledgerAdmin.findTransaction('alpha', 'x'))?.failedReads).toMatchObject({ tries: 6 })
    const entry = (await ledgerAdmin.findTransaction('alpha', 'x'))?.entry
    await ledger.upsert('acme', 'alpha', { ...facts('x', {}, { reportedAt: 400, fetchedAt: 400 }), sequence: 2 }, entry)
    await failedReads.note([failed(190, 500, 1)])
    expect(await noted()).toMatchObject([{ since: 500, at: 500, tries: 1 }])
  })

  test('failed reads cost by the swaps that are asked for, also before PostgreSQL has counted its rows', async () => {
    const { url, ledger } = await shared().openNew()
    if (!url.startsWith('postgres')) return // SQLite goes from the swaps to their rows.
    const { id } = intent()
    await ledger.begin(intent({ id }))
    await ledger.complete(id, facts('x'))
    await query(
      url,
      'ALTER TABLE timeline SET (autovacuum_enabled = off)',
      `INSERT INTO transactions (intent, owner, provider, provider_id, state, sort_key, status, record, attempted_at)
       SELECT n, 'acme', 'alpha', n, 'done', n, 'wait', '{}', n FROM generate_series(1, 10000) n`,
      `INSERT INTO timeline (intent, at, events)
       SELECT n % 10000 + 1, n, rpad('[{"event":"requested"}]', 400) FROM generate_series(1, 40000) n`,
    )
    const asking = await openLedger(url)
    const failed = { event: 'reads_failed', since: 1, at: 1, tries: 1, outcome: 'failed', owner: 'last_known' } as const
    await asking.failedReads.note([{ provider: 'alpha', id: 'x', ...failed }])
    expect((await asking.ledgerAdmin.findTransaction('alpha', 'x'))?.failedReads).toEqual(failed)
    await asking.close() // Then its counts are seen.
    const read = () => query(url, "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'timeline'")
    expect(await read()).toEqual([{ seq_tup_read: '0' }])
  })

  test('what a person decides is noted with it: bound, accepted, settled', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const [bound, accepted] = [intent(), intent()]
    for (const create of [bound, accepted]) await ledger.begin(create)
    await ledger.markUnknown(bound.id, 1)
    await ledgerAdmin.bind(bound.id, 'b', 5, undefined, 'alice')
    await ledger.markMismatch(accepted.id, facts('a').transaction, ['coinTo'])
    await ledgerAdmin.accept(accepted.id, 5, 'bob')
    const acts = async (id: string) => (await ledgerAdmin.timeline(id))?.events
    expect(await acts(bound.id)).toMatchObject([
      { event: 'person', actor: 'alice', action: 'ledger.resolve', decision: { bound: 'alpha~b' } },
    ])
    expect(await acts('alpha~a')).toMatchObject([
      { event: 'person', actor: 'bob', decision: { accepted: 'alpha~a', fields: ['coinTo'] } },
    ])
  })

  test('it goes with its swap', async () => {
    const { ledger, ledgerAdmin, timelines } = await shared().openNew()
    const made = intent({ attemptedAt: 1_000 })
    await ledger.begin(made)
    await timelines.append([{ key: { intent: made.id }, events: [unknown(1)] }])
    await ledger.complete(made.id, facts('p', { status: 'success' }, { reportedAt: 1_000 }))
    expect(await ledgerAdmin.prune(Date.now(), 'tester')).toMatchObject({ pruned: 1 })
    expect(await ledgerAdmin.timeline(made.id)).toBeUndefined()
    await timelines.append([{ key: { intent: made.id }, events: [unknown(2)] }])
  })
})

describeStores(durableStores, (shared) => {
  test('a pruned swap leaves no row, and neither does one that ended', async () => {
    const { url, ledger, ledgerAdmin, timelines } = await shared().openNew()
    const [pruned, ended] = [intent({ attemptedAt: 1_000 }), intent()]
    for (const { id, ...create } of [pruned, ended]) {
      await ledger.begin({ ...create, id })
      await timelines.append([{ key: { intent: id }, events: [unknown(1)] }])
    }
    await ledger.complete(pruned.id, facts('p', { status: 'success' }, { reportedAt: 1_000 }))
    await ledgerAdmin.prune(Date.now(), 'tester')
    await ledger.markUnknown(ended.id, 1)
    await ledgerAdmin.markNotCreated(ended.id, 'tester')
    expect(await query(url, 'SELECT * FROM timeline')).toEqual([])
    expect(await query(url, 'SELECT * FROM create_requests')).toEqual([])
  })
})

test('while the ledger fails events wait, in bounds, and those that are lost are counted', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const written: string[] = []
  const lost: number[] = []
  let isDown = true
  const timelines = new Timelines(
    {
      append: async (rows) => {
        if (isDown) throw new Error('down')
        for (const { key, events } of rows) written.push(`${'intent' in key ? key.intent : key.id} ${events.map(({ at }) => at)}`)
      },
    },
    (observation) => void (observation.what === 'timelineLost' && lost.push(observation.count)),
  )
  timelines.add({ intent: 'a' }, [unknown(1)])
  await vi.advanceTimersByTimeAsync(600)
  timelines.add({ intent: 'a' }, [unknown(2), unknown(3)])
  for (let number = 0; number < 9_999; number++) timelines.add({ intent: `other-${number}` }, [unknown(1)])
  timelines.add({ intent: 'too-many' }, [unknown(1), unknown(2)])
  timelines.add({ intent: 'a' }, [unknown(4)])
  expect(lost).toEqual([2])
  isDown = false
  await vi.advanceTimersByTimeAsync(10_000)
  expect(written.find((line) => line.startsWith('a '))).toBe('a 1,2,3,4')
  expect(written).toHaveLength(10_000)
  timelines.add({ intent: 'last' }, [unknown(1)])
  await timelines.close()
  expect(written.at(-1)).toBe('last 1')
})
