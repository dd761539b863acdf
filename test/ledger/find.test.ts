/** docs/operating.md: a swap is found by an id, a request, an address in any spelling, or its account; and its cost does not grow. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { FindCursor, FoundSwap, LedgerAdmin } from '../../src/core/ports/ledger-admin.ts'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { facts, intent, requested, unique } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

const evm = '0x52908400098527886E0F7030069857D2E4169EE7'
const bech32 = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
/** One account of the XRP Ledger, alone and with the tag 1. */
const classic = 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59'
const xAddress = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu'

async function all(ledgerAdmin: Pick<LedgerAdmin, 'find'>, text: string, size = 2): Promise<readonly FoundSwap[]> {
  const found: FoundSwap[] = []
  for (let after: FindCursor | undefined; ; ) {
    const page = await ledgerAdmin.find(text, size, after)
    found.push(...page.found)
    expect(page.found.length).toBeLessThanOrEqual(size)
    if (!page.next) return found
    after = JSON.parse(JSON.stringify(page.next)) as FindCursor
  }
}

const intents = (found: readonly FoundSwap[]) => found.map((swap) => swap.intent)

describeStores(allStores, (shared) => {
  const begun = async (fields: Parameters<typeof intent>[0] = {}, { ledger }: Pick<OpenLedger, 'ledger'> = shared()) => {
    const create = intent({ owner: unique('owner'), ...fields })
    expect(await ledger.begin(create)).toBe(true)
    return create
  }

  test('a create is found by its intent, request id and Idempotency-Key, before and after its outcome', async () => {
    const { ledger, ledgerAdmin } = shared()
    const [requestId, key] = [unique('request'), unique('key')]
    const made = await begun({ requestId, keyId: 'key-1', idempotencyKey: { key, fingerprint: 'f' } })
    const pending = { intent: made.id, state: 'pending', owner: made.owner, requestId, keyId: 'key-1', requested }
    expect(await all(ledgerAdmin, requestId)).toMatchObject([{ ...pending, matched: ['requestId'] }])
    expect(await all(ledgerAdmin, key)).toMatchObject([{ ...pending, matched: ['idempotencyKey'] }])
    expect(await all(ledgerAdmin, made.id)).toMatchObject([{ ...pending, matched: ['intent'] }])
    await ledger.markUnknown(made.id, 5)
    expect(await all(ledgerAdmin, requestId)).toMatchObject([{ ...pending, state: 'unknown' }])
    const id = unique('id')
    await ledger.complete(made.id, facts(id))
    const done = { intent: made.id, state: 'done', providerId: id, requestId, entry: { transaction: { id } } }
    for (const text of [requestId, key, made.id, `alpha~${id}`]) expect(await all(ledgerAdmin, text)).toMatchObject([done])
  })

  test('a refused create leaves nothing behind', async () => {
    const { ledger, ledgerAdmin } = shared()
    const requestId = unique('request')
    await ledger.drop((await begun({ requestId })).id)
    expect(await all(ledgerAdmin, requestId)).toEqual([])
  })

  test('a transaction is found by its id at whatever provider, also one that was only read', async () => {
    const { ledgerAdmin, ledger, tags } = await shared().openNew()
    await tags.save(['alpha', 'beta'].map((tag) => ({ tag, form: 'A', url: `https://${tag}.example`, account: tag })))
    await ledger.upsert('one', 'alpha', facts('same-id'))
    await ledger.upsert('two', 'beta', facts('same-id'))
    const found = await all(ledgerAdmin, 'same-id', 5)
    expect(found.map(({ provider, owner, intent: made }) => [provider, owner, made]).toSorted()).toEqual([
      ['alpha', 'one', undefined],
      ['beta', 'two', undefined],
    ])
    expect(found[0]?.matched).toEqual(['providerId'])
    expect(await all(ledgerAdmin, 'beta~same-id')).toMatchObject([{ provider: 'beta', matched: ['id'] }])
    expect(await all(ledgerAdmin, 'gamma~same-id')).toEqual([])
  })

  test.each([
    ['EIP-55', evm, evm.toLowerCase()],
    ['upper case', evm.toLowerCase(), `0x${evm.slice(2).toUpperCase()}`],
    ['bech32 in upper case', bech32, bech32.toUpperCase()],
    ['the account of an X-address', xAddress, classic],
    ['an X-address of the account', classic, xAddress],
  ])('payout, refund and deposit addresses are found in another spelling: %s', async (_, stored, searched) => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const payout = await begun({ requested: { ...requested, withdrawalAddress: stored } }, { ledger })
    const refund = await begun({ requested: { ...requested, refundAddress: stored } }, { ledger })
    const other = await begun({}, { ledger })
    await ledger.complete(other.id, facts('x', { depositAddress: stored, ...(stored === classic && { depositExtraId: '1' }) }))
    const found = await all(ledgerAdmin, searched)
    expect(new Map(found.map((swap) => [swap.intent, swap.matched]))).toEqual(
      new Map([
        [payout.id, ['withdrawalAddress']],
        [refund.id, ['refundAddress']],
        [other.id, ['depositAddress']],
      ]),
    )
    expect(await all(ledgerAdmin, searched.slice(0, -1))).toEqual([])
  })

  test('a deposit address that many share is found with its memo behind a space, and without it with every memo', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const made = await Promise.all(['1', '8', '88', undefined].map(() => begun({}, { ledger })))
    for (const [at, depositExtraId] of ['1', '8', '88', undefined].entries())
      await ledger.complete(made[at]?.id ?? '', facts(`x${at}`, { depositAddress: classic, depositExtraId }))
    expect(intents(await all(ledgerAdmin, `${classic} 8`))).toEqual([made[1]?.id])
    expect(intents(await all(ledgerAdmin, xAddress))).toEqual([made[0]?.id])
    expect(new Set(intents(await all(ledgerAdmin, classic)))).toEqual(new Set(made.map(({ id }) => id)))
    expect(await all(ledgerAdmin, `${classic} 9`)).toEqual([])
  })

  test('an account is found by its name and its id: its creates without an outcome first, then its swaps, newest first', async () => {
    const { ledger, ledgerAdmin, accounts } = await shared().openNew()
    await accounts.addKey({ id: 'k', name: 'Zoë & Söhne', createdAt: 1 }, 'd', 'tester')
    const owner = (await accounts.findKeys(['d'])).get('d')?.identity ?? ''
    const at = Date.now()
    const open = await begun({ owner, attemptedAt: at - 50_000 }, { ledger })
    const swaps: string[] = []
    for (let n = 0; n < 5; n++) {
      const { id } = await begun({ owner, attemptedAt: at - n * 1000 }, { ledger })
      await ledger.complete(id, facts(`s${n}`, {}, { reportedAt: at - n * 1000 }))
      swaps.push(id)
    }
    await begun({ owner: 'another' }, { ledger })
    for (const text of ['Zoë & Söhne', 'Zoë & Söhne'.normalize('NFD'), owner, owner.slice(0, 8)]) {
      const found = await all(ledgerAdmin, text)
      expect(intents(found), text).toEqual([open.id, ...swaps])
      expect(found.every(({ account, matched }) => account === 'Zoë & Söhne' && matched[0] === 'account')).toBe(true)
    }
    expect(await all(ledgerAdmin, 'Zoë')).toEqual([])
  })

  test.each(["' OR 1=1 --", '%', '_', '*', "alpha~' OR ''='", '"', '\\', '["', '~', ' ', 'null', '0', '😀', 'x'.repeat(300)])(
    'the text %j is compared, never run or matched as a pattern',
    async (text) => {
      const { ledger, ledgerAdmin } = await shared().openNew()
      const made = await begun({ requestId: 'r', idempotencyKey: { key: 'k', fingerprint: 'f' } }, { ledger })
      await ledger.complete(made.id, facts('1'))
      expect(await all(ledgerAdmin, text)).toEqual([])
    },
  )

  test('a request id that a client sends with every create: each page is a page, and no create is there twice', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const at = Date.now()
    const made = []
    for (let n = 0; n < 9; n++) made.push(await begun({ requestId: 'same', attemptedAt: at - Math.floor(n / 3) }, { ledger }))
    const found = await all(ledgerAdmin, 'same', 2)
    expect(new Set(intents(found))).toEqual(new Set(made.map(({ id }) => id)))
    expect(found).toHaveLength(9)
    expect(found.map(({ attemptedAt = 0 }) => at - attemptedAt)).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2])
  })

  test('what a person must decide is found: a mismatch by the id that was reported, an ended create by its intent', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const mismatch = await begun({}, { ledger })
    await ledger.markMismatch(mismatch.id, facts('m').transaction, ['coinTo'])
    expect(await all(ledgerAdmin, 'alpha~m')).toMatchObject([{ intent: mismatch.id, state: 'mismatch', providerId: 'm' }])
    const ended = await begun({}, { ledger })
    await ledger.markUnknown(ended.id, 1)
    expect(await ledgerAdmin.markNotCreated(ended.id, 'tester')).toBe(true)
    expect(await all(ledgerAdmin, ended.id)).toMatchObject([{ intent: ended.id, state: 'ended', requested }])
    // A late result makes it a create again, and its addresses lead to it.
    expect(await ledger.complete(ended.id, facts('late'))).toBe(true)
    expect(intents(await all(ledgerAdmin, 'TWithdraw1'))).toContain(ended.id)
  })

  test('a pruned swap takes its request along', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const { id } = await begun({ requestId: 'gone', attemptedAt: 1_000 }, { ledger })
    await ledger.complete(id, facts('p', { status: 'success' }, { reportedAt: 1_000 }))
    expect(await ledgerAdmin.prune(Date.now(), 'tester')).toMatchObject({ pruned: 1 })
    for (const text of ['gone', id, 'TWithdraw1', 'alpha~p']) expect(await all(ledgerAdmin, text)).toEqual([])
  })
})

describeStores(['PostgreSQL'], (shared) => {
  test('the cost does not grow with the ledger: no look-up reads a table, each only what its page has', async () => {
    const { url, close } = await shared().openNew()
    await close()
    const rows = 30_000
    await query(
      url,
      `INSERT INTO transactions (intent, owner, provider, provider_id, state, attempted_at, sort_key, status, requested, record, reported_at, deposit)
       SELECT 'i' || i, 'o' || (i % 7), 'alpha', 'tx-' || i, 'done', i, -1000000 * CAST(i AS bigint), 'success', '{}', '{"transaction":{}}', i, '["d' || i || '",null]'
       FROM generate_series(1, ${rows}) AS i`,
      `INSERT INTO create_requests (intent, at, request_id, payout, refund, idempotency_key)
       SELECT 'i' || i, i, 'same', i % 11, i % 13, i FROM generate_series(1, ${rows}) AS i`,
      "INSERT INTO providers (tag, form, url) VALUES ('alpha', 'A', 'https://alpha.example')",
      'ANALYZE',
    )
    const rowsRead = async (): Promise<number> => {
      const sums = 'coalesce(sum(seq_tup_read), 0) + coalesce(sum(idx_tup_fetch), 0) AS rows'
      const tables = "relname IN ('transactions', 'create_requests', 'claims', 'ended', 'refused_creates')"
      const [read] = await query(url, `SELECT ${sums} FROM pg_stat_user_tables WHERE ${tables}`)
      return Number(read?.rows)
    }
    for (const text of ['same', 'tx-77', 'alpha~tx-77', 'i77', 'o3', 'd5', randomUUID(), 'o3o3o3o3']) {
      const before = await rowsRead()
      // Its connections tell what they have read when they end.
      const opened = await openLedger(url)
      const { found } = await opened.ledgerAdmin.find(text, 50)
      await opened.close()
      await expect.poll(async () => (await rowsRead()) - before).toBeGreaterThanOrEqual(found.length)
      expect((await rowsRead()) - before, text).toBeLessThan(300)
    }
  }, 60_000)
})
