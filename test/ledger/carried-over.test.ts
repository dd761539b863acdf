/** A ledger as the version before the last migration wrote it, with one of each row: nothing of it is lost (docs/contract.md §13). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { query, undoLastMigrations } from './raw.ts'
import { always, facts, intent } from './samples.ts'
import { describeStores, durableStores } from './stores.ts'

/** What that version wrote, a statement on each line. */
const statements = readFileSync(join(import.meta.dirname, 'older-version.sql'), 'utf8')
  .trim()
  .split('\n')
const owner = 'account-1'
const began = 1_795_168_800_000

describeStores(durableStores, (shared) => {
  async function openOld(): Promise<OpenLedger & { readonly url: string }> {
    const { url, close } = await shared().openNew()
    await close()
    await undoLastMigrations(url)
    await query(url, ...statements)
    const opened = await openLedger(url, { now: () => began + 60_000 })
    onTestFinished(opened.close)
    return { ...opened, url }
  }

  const requested = {
    ...{ codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' },
    ...{ amountIn: '0.10', withdrawalAddress: 'TQn9', rateType: 'float' },
  }
  const sent = { codeFrom: 'BTC', codeTo: 'USDTTRC20' }
  const created = { ...requested, amountOut: '9425.243471', createdAt: '2026-11-20T10:00:00Z' }
  const done = {
    transaction: { ...created, id: 'done', depositAddress: 'bc1q-done', status: 'confirmation' },
    ...{ owner, provider: 'alpha', isCreated: true, sent, derived: ['updatedAt'], quotedAmountOut: '9425.243471' },
    ...{ reportedAt: began, fetchedAt: began + 1_000, changedAt: began + 1_000, sequence: 9 },
  }
  const observed = {
    transaction: { ...created, id: 'observed', depositAddress: 'bc1q-observed', status: 'success' },
    ...{ owner, provider: 'beta', isCreated: false, derived: [], reportedAt: began, fetchedAt: began, sequence: 7 },
  }

  test('gets, lists and the export have every transaction, and a get goes on from there', async () => {
    const { ledger, ledgerAdmin } = await openOld()
    const found = await ledger.find(owner, 'alpha', 'done')
    expect(found).toStrictEqual(done)
    const { entries, total } = await ledger.list(owner, { page: 1, size: 10, created: always })
    expect(total).toBe(2)
    expect(entries).toEqual([done, observed])
    expect(await Array.fromAsync(ledgerAdmin.export())).toEqual([done, observed])
    if (!found) throw new Error('It is gone.')
    const { owner: _, provider: __, isCreated: ___, sent: ____, ...record } = found
    const later = { ...record, transaction: { ...record.transaction, status: 'success' as const }, sequence: 10 }
    expect(await ledger.upsert(owner, 'alpha', later, found)).toMatchObject({ transaction: { status: 'success' }, sequence: 10 })
  })

  test('each key has its create: the first response, one in doubt, or a contradicted one', async () => {
    const { ledger } = await openOld()
    const stored = (key: string) => ledger.findIdempotencyKey(owner, `order-${key}`)
    expect(await stored('done')).toStrictEqual({
      ...{ intent: 'done', state: 'done', fingerprint: 'print-done', request: { codeFrom: 'BTC' }, entry: done },
      first: {
        transaction: { ...done.transaction, status: 'wait' },
        ...{ derived: ['updatedAt'], quotedAmountOut: '9425.243471', reportedAt: began, sequence: 7 },
      },
    })
    expect(await stored('unknown')).toMatchObject({ state: 'open', fingerprint: 'print-unknown' })
    expect(await stored('pending')).toMatchObject({ state: 'open' })
    expect(await stored('mismatch')).toMatchObject({ state: 'mismatch' })
    for (const free of ['refused', 'ended', 'gone']) expect(await stored(free)).toBeUndefined()
    for (const key of ['done', 'unknown', 'pending', 'mismatch'])
      expect(await ledger.begin(intent({ owner, idempotencyKey: { key: `order-${key}`, fingerprint: `print-${key}` } }))).toBe(
        false,
      )
  })

  test('reconciliation goes on where it was, and so does the one process for each check', async () => {
    const { ledger } = await openOld()
    const due = await ledger.dueCreates(began + 30_000, 10, undefined)
    const unresolved = { owner, provider: 'alpha', requested, sent, destination: { url: 'https://alpha.example', form: 'A' } }
    expect(due).toStrictEqual([
      { ...unresolved, intent: 'pending', attemptedAt: began, checkCount: 0, nextCheckAt: began + 25_000 },
      { ...unresolved, intent: 'unknown', attemptedAt: began, checkCount: 1, nextCheckAt: began + 30_000 },
    ])
    const [, unknown] = due
    if (!unknown) throw new Error('It is gone.')
    expect(await ledger.scheduleNextCheck(unknown, began + 90_000)).toBe(true)
    expect(await ledger.scheduleNextCheck(unknown, began + 90_000)).toBe(false)
    expect(await ledger.bindFound('unknown', facts('found'))).toBe(true)
    expect(await ledger.complete('pending', facts('late'))).toBe(true)
    // It had ended as not created.
    expect(await ledger.complete('ended', facts('latest'))).toBe(true)
    for (const id of ['found', 'late', 'latest']) expect(await ledger.find(owner, 'alpha', id)).toMatchObject({ isCreated: true })
    expect((await ledger.list(owner, { page: 1, size: 10, created: always })).total).toBe(5)
    expect(await ledger.complete((await begun(ledger)).id, facts('done'))).toBe(false)
  })

  async function begun(ledger: OpenLedger['ledger']) {
    const create = intent({ owner })
    await ledger.begin(create)
    return create
  }

  test('a refused create is looked at, and what it made all the same is kept', async () => {
    const { ledger, ledgerAdmin } = await openOld()
    const [refused] = await ledger.dueRefusedCreates(began + 5_000, 10, undefined)
    expect(refused).toMatchObject({
      intent: 'refused',
      requested,
      sent,
      checkCount: 0,
      nextCheckAt: began + 5_000,
      deadline: began + 20_000,
    })
    if (!refused) throw new Error('It is gone.')
    expect(await ledger.scheduleNextRefusedCheck(refused, began + 90_000)).toBe(true)
    expect(await ledger.keepRefused(refused, facts('refused-1').transaction)).toBe(true)
    expect(await ledgerAdmin.findUnresolved('refused')).toMatchObject({
      state: 'mismatch',
      reported: { id: 'refused-1', fields: ['refused'] },
    })
  })

  test('what contradicted is listed with its fields, and can be accepted', async () => {
    const { ledger, ledgerAdmin } = await openOld()
    expect(await ledgerAdmin.unresolved()).toEqual([
      expect.objectContaining({
        intent: 'mismatch',
        reported: expect.objectContaining({ id: 'mismatch', fields: ['withdrawalAddress'] }),
        requested,
      }),
      expect.objectContaining({ intent: 'pending', state: 'pending', deadline: began + 20_000 }),
      expect.objectContaining({ intent: 'unknown', state: 'unknown', candidates: ['candidate'] }),
    ])
    expect(await ledgerAdmin.accept('mismatch', began + 60_000, 'tester')).toBe('accepted')
    const accepted = await ledger.find(owner, 'alpha', 'mismatch')
    expect(accepted).toMatchObject({
      transaction: { withdrawalAddress: 'TOther', depositAddress: 'bc1q-mismatch', status: 'wait' },
      quotedAmountOut: '9425.243471',
    })
    expect(await ledger.findIdempotencyKey(owner, 'order-mismatch')).toMatchObject({
      state: 'done',
      first: { reportedAt: began + 60_000 },
    })
  })

  test('keys, overrides and the audit log are as they were', async () => {
    const { accounts, overrides, audit, tags } = await openOld()
    expect(await accounts.listKeys()).toEqual([expect.objectContaining({ id: 'key-1', name: 'acme', createdAt: began })])
    expect([...(await accounts.findKeys(['digest-1'])).values()]).toEqual([{ identity: owner, account: 'acme', keyId: 'key-1' }])
    const mirror = { provider: 'beta', sample: 0.5 }
    expect(await overrides.read()).toEqual([
      { key: 'mirror', value: mirror, fileValue: null, actor: 'cli:ops@host', since: began + 2 },
      { key: 'state:beta', value: 'draining', fileValue: 'active', actor: 'cli:ops@host', since: began + 1 },
    ])
    expect((await audit.read({})).map(({ action, subject, after }) => [action, subject, after])).toEqual([
      ['override.reset', 'mirror', null],
      ['routing.mirror', 'routing', mirror],
      ['provider.state', 'beta', 'draining'],
      ['ledger.resolve', 'ended', { bound: null }],
      ['key.create', 'key-1', { account: 'acme', expiresAt: null }],
      ['account.create', 'acme', { id: owner }],
    ])
    expect(await tags.read(['alpha'])).toEqual(expect.arrayContaining([expect.objectContaining({ tag: 'alpha', isUsed: true })]))
  })

  test('stored JSON has the new keys alone', async () => {
    const { url } = await openOld()
    const rows = await query(url, 'SELECT record AS text FROM transactions UNION ALL SELECT first FROM claims')
    const texts = rows.map(({ text }) => String(text))
    expect(texts.filter((text) => /"(promised|seenAt|readAt|told)":/.test(text))).toEqual([])
  })
})
