/** docs/contract-operators.md §15: many creates, or transactions that need a person, are settled with one confirmation, and each by its own checks. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { type SettlementPreview, settleNext } from '../../src/core/operations/settle-many.ts'
import type { Intent } from '../../src/core/ports/ledger.ts'
import { knownForms } from '../../src/forms/index.ts'
import { settlementPorts } from '../../src/process/ask-providers.ts'
import { depositOf, facts, intent } from '../ledger/samples.ts'
import type { CommandResult } from '../support/command.ts'
import { Place } from './place.ts'

let place: Place
let stores: Awaited<ReturnType<Place['stores']>>
let acme: string
let other: string
beforeEach(async () => {
  place = new Place()
  stores = await place.stores()
  acme = await accountNamed('acme')
  other = await accountNamed('other')
})
afterEach(async () => {
  await stores.close()
  place[Symbol.dispose]()
})

async function accountNamed(name: string): Promise<string> {
  await stores.accounts.addKey({ id: name, name, createdAt: 1 }, name, 'tester')
  return (await stores.accounts.findKeys([name])).get(name)?.identity ?? ''
}

const minute = 60_000

/** `minutes`: how long ago. */
async function unknown(id: string, minutes: number, more: Partial<Intent> = {}): Promise<void> {
  const attemptedAt = Date.now() - minutes * minute
  const key = { key: `order-${id}`, fingerprint: id }
  await stores.ledger.begin(intent({ id, owner: acme, attemptedAt, deadline: attemptedAt + 10_000, idempotencyKey: key, ...more }))
  await stores.ledger.markUnknown(id, Date.now() + minute, 'timed_out')
}

const note = ['--note', 'alpha: nothing was created, ticket 7']
const preview = (...filters: readonly string[]): Promise<SettlementPreview> =>
  place.facts('ledger', 'settle-all', '--provider', 'alpha', '--none', ...note, ...filters)
const confirm = (id: string | null): Promise<CommandResult> => place.swapgate('ledger', 'settle-all', '--confirm', id ?? '')
const unresolved = async (): Promise<readonly string[]> => (await stores.ledgerAdmin.unresolved()).map((each) => each.intent)
const settledBy = async () => (await stores.audit.read({})).filter(({ action }) => action === 'ledger.resolve')

describe('what is shown', () => {
  it('is counted by account and reason; nothing is settled by it', async () => {
    for (const id of ['one', 'two', 'three']) await unknown(id, 5)
    await unknown('four', 4, { owner: other })
    const { exitCode, out } = await place.swapgate('ledger', 'settle-all', '--provider', 'alpha', '--none', ...note)
    expect(exitCode).toBe(0)
    expect(out.slice(1, -1)).toEqual(['account  reason     count', 'acme     timed_out  3', 'other    timed_out  1'])
    expect(out[0]).toMatch(/^4 at alpha, from 20\S+Z to 20\S+Z:$/)
    expect(out.at(-1)).toMatch(/^Nothing is settled yet\. To settle these 4: swapgate ledger settle-all --confirm 4-[0-9a-f]{8}$/)
    expect(await unresolved()).toHaveLength(4)
    expect(await settledBy()).toEqual([])
  })

  it.each([
    ['an account', ['--account', 'other'], ['of-other']],
    ['a time', ['--since', '30m'], ['of-other', 'wrong', 'young']],
    ['the time before another one', ['--since', '2h', '--until', '30m'], ['old']],
    ['a reason', ['--reason', 'timed_out'], ['of-other', 'old', 'young']],
    ['the field of a mismatch', ['--reason', 'withdrawalAddress'], ['wrong']],
    ['all of them', ['--reason', 'timed_out', '--since', '30m', '--account', 'acme'], ['young']],
  ])('is chosen by %s', async (_, filters, chosen) => {
    await unknown('old', 60)
    await unknown('young', 5)
    await unknown('of-other', 5, { owner: other })
    await unknown('wrong', 5)
    await unknown('elsewhere', 5, { provider: 'beta' })
    await stores.ledger.markMismatch('wrong', facts('x').transaction, ['coinTo', 'withdrawalAddress'])
    const before = await unresolved()
    const { confirm: id, count } = await preview(...filters)
    expect(count).toBe(chosen.length)
    expect((await confirm(id)).exitCode).toBe(0)
    const after = await unresolved()
    expect(before.filter((each) => !after.includes(each)).toSorted()).toEqual(chosen)
  })

  it('names what cannot be settled now, and what may be in the list of the provider', async () => {
    await unknown('unknown', 5)
    const [create] = await stores.ledger.dueCreates(Date.now() + 2 * minute, 10, undefined)
    if (create) await stores.ledger.scheduleNextCheck(create, Date.now() + minute, ['tx-1'])
    await stores.ledger.begin(intent({ id: 'running', owner: acme, deadline: Date.now() + minute }))
    const shown = await preview()
    expect(shown).toMatchObject({
      count: 1,
      groups: [{ account: 'acme', reason: 'timed_out', count: 1, withCandidates: 1 }],
      left: [{ id: 'running', account: 'acme', reason: 'running', why: expect.stringContaining('may still be running') }],
    })
  })

  it('is nothing where nothing can be settled: exit 1', async () => {
    const { exitCode, out } = await place.swapgate('ledger', 'settle-all', '--provider', 'alpha', '--accept', ...note)
    expect([exitCode, out]).toEqual([1, ['Nothing at alpha can be settled in this way.']])
  })

  it.each([
    [[]],
    [['--provider', 'alpha', '--none']],
    [['--none', ...note]],
    [['--provider', 'alpha', '--none', '--accept', ...note]],
    [['--provider', 'alpha', '--none', ...note, '--force']],
    [['--confirm', '1-aaaa', '--none']],
    [['--confirm', '1-aaaa', '--force']],
  ])('takes no wrong usage, and no force: %j', async (args) => {
    expect((await place.swapgate('ledger', 'settle-all', ...args)).exitCode).toBe(2)
  })
})

describe('what is confirmed', () => {
  it('is what was shown: later arrivals are not among it, and each key of it is free', async () => {
    for (const id of ['one', 'two']) await unknown(id, 5)
    const { confirm: id } = await preview()
    await unknown('late', 5)
    expect(await confirm(id)).toEqual({ exitCode: 0, out: ['Settled: 2.'], err: [] })
    expect(await unresolved()).toEqual(['late'])
    const free = intent({ owner: acme, idempotencyKey: { key: 'order-one', fingerprint: 'another' } })
    expect(await stores.ledger.begin(free)).toBe(true)
    const taken = intent({ owner: acme, idempotencyKey: { key: 'order-late', fingerprint: 'another' } })
    expect(await stores.ledger.begin(taken)).toBe(false)
  })

  it('has a record in the audit log for each, with who, why and whose', async () => {
    await unknown('one', 5)
    await unknown('two', 5, { owner: other })
    const address = '0x1111111111111111111111111111111111111111'
    const { confirm: id } = await place.facts<SettlementPreview>(
      ...['ledger', 'settle-all', '--provider', 'alpha', '--none', '--note', `nothing at ${address}`],
    )
    await confirm(id)
    const records = (await settledBy()).toSorted((a, b) => (a.subject < b.subject ? -1 : 1))
    const after = { bound: null, note: 'nothing at 0x1111…1111' }
    expect(records).toMatchObject([
      { subject: 'one', before: { provider: 'alpha', state: 'unknown', account: 'acme', reason: 'timed_out' }, after },
      { subject: 'two', before: { provider: 'alpha', state: 'unknown', account: 'other', reason: 'timed_out' }, after },
    ])
    expect(records.every(({ actor }) => actor.startsWith('cli:'))).toBe(true)
  })

  it('leaves and names what has changed since it was shown', async () => {
    for (const id of ['one', 'two', 'three', 'four']) await unknown(id, 5)
    const { confirm: id } = await preview()
    await stores.ledger.markMismatch('one', facts('x').transaction, ['coinTo'])
    await stores.ledger.complete('two', facts('y'))
    const due = await stores.ledger.dueCreates(Date.now() + 2 * minute, 10, undefined)
    for (const create of due.filter(({ intent: each }) => each === 'three'))
      await stores.ledger.scheduleNextCheck(create, Date.now() + minute, ['tx-1'])
    const { exitCode, out } = await confirm(id)
    expect(exitCode).toBe(1)
    expect(out).toEqual([
      'Settled: 1. Already settled, or found meanwhile: 1.',
      'Left as they are: 2',
      '       account  reason     why',
      'one    acme     coinTo     it has changed since it was shown',
      'three  acme     timed_out  it has changed since it was shown',
    ])
    expect((await unresolved()).toSorted()).toEqual(['one', 'three'])
    expect(await settledBy()).toHaveLength(1)
  })

  it('is unknown for a code that was never shown', async () => {
    const { exitCode, err } = await confirm('3-00000000')
    expect(exitCode).toBe(1)
    expect(err.join()).toContain('there is nothing to confirm as 3-00000000')
  })

  it('is settled once by two persons at once, and by one who repeats it', async () => {
    const ids = Array.from({ length: 120 }, (_, at) => `create-${at}`)
    for (const id of ids) await unknown(id, 5)
    const [first, second] = [await preview(), await preview()]
    await Promise.all([confirm(first.confirm), confirm(second.confirm), confirm(first.confirm)])
    await confirm(first.confirm)
    expect(await unresolved()).toEqual([])
    expect((await settledBy()).map(({ subject }) => subject).toSorted()).toEqual(ids.toSorted())
  })

  it('goes on where a process was killed, and settles nothing twice', async () => {
    const ids = Array.from({ length: 25 }, (_, at) => `create-${at}`)
    for (const id of ids) await unknown(id, 5)
    const { confirm: id } = await preview()
    const ports = settlementPorts(loadConfig(place.file, knownForms), stores, 'alice')
    expect(await settleNext(id ?? '', 10, ports)).toMatchObject({ progress: { settled: 10, already: 0, remaining: 15 } })
    // It ends before its second step is noted.
    const dying = { ...ports, ledgerAdmin: { ...ports.ledgerAdmin, advancePlan: () => Promise.reject(new Error('killed')) } }
    await expect(settleNext(id ?? '', 10, dying)).rejects.toThrow('killed')
    expect(await confirm(id)).toMatchObject({ exitCode: 0, out: ['Settled: 5. Already settled, or found meanwhile: 10.'] })
    expect((await settledBy()).map(({ subject }) => subject).toSorted()).toEqual(ids.toSorted())
  })
})

it('accepts what the provider had refused and made all the same, and leaves each response that contradicts, with the names', async () => {
  for (const id of ['one', 'two', 'open']) await unknown(id, 5)
  await stores.ledger.markMismatch('one', facts('tx-one').transaction, ['networkTo', 'amountOut'])
  await stores.ledger.markMismatch('two', facts('tx-two').transaction, ['refused'])
  const shown = await place.facts<SettlementPreview>(...['ledger', 'settle-all', '--provider', 'alpha', '--accept', ...note])
  expect(shown).toMatchObject({
    count: 1,
    left: [{ id: 'one', why: 'the response differs from the request in networkTo, amountOut' }],
  })
  expect((await confirm(shown.confirm)).out).toEqual(['Settled: 1.'])
  expect(await unresolved()).toEqual(['one', 'open'])
  expect(await stores.ledger.find(acme, 'alpha', 'tx-one')).toBeUndefined()
  expect((await stores.ledger.find(acme, 'alpha', 'tx-two'))?.transaction).toMatchObject({ depositAddress: depositOf('tx-two') })
})

it('records the status of transactions that need a person', async () => {
  const report = async (id: string, attention: 'failed' | 'held', provider = 'alpha'): Promise<void> => {
    await stores.ledger.upsert(acme, provider, facts(id, { status: 'exchanging', attention }), undefined)
  }
  await report('one', 'failed')
  await report('two', 'failed')
  await report('three', 'held')
  await report('four', 'failed', 'beta')
  const shown = await place.facts<SettlementPreview>(
    ...['ledger', 'settle-all', '--provider', 'alpha', '--status', 'refunded', '--reason', 'failed', ...note],
  )
  expect(shown).toMatchObject({ count: 2, groups: [{ account: 'acme', reason: 'failed', count: 2 }] })
  await stores.ledgerAdmin.settle('alpha', 'two', { status: 'success', note: 'found', at: Date.now() }, 'bob')
  expect((await confirm(shown.confirm)).out).toEqual(['Settled: 1. Already settled, or found meanwhile: 1.'])
  const left = (await stores.ledgerAdmin.needPerson()).map(({ entry }) => entry.transaction.id)
  expect(left.toSorted()).toEqual(['four', 'three'])
  const [record] = (await stores.audit.read({})).filter(({ subject }) => subject === 'alpha~one')
  expect(record).toMatchObject({
    action: 'transaction.settle',
    before: { status: 'exchanging', attention: 'failed', account: 'acme' },
    after: { status: 'refunded', note: 'alpha: nothing was created, ticket 7' },
  })
})

it('a single command says whose create it was, and why a person was needed, and keeps a note', async () => {
  await unknown('one', 5)
  const { out } = await place.swapgate('ledger', 'resolve', 'one', '--none', '--note', 'ticket 8')
  expect(out.at(-1)).toBe('Account: acme. Reason: timed_out.')
  expect(await settledBy()).toMatchObject([
    { before: { account: 'acme', reason: 'timed_out' }, after: { bound: null, note: 'ticket 8' } },
  ])
})
