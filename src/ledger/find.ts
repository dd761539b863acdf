/** Kysely: finds swaps by what a person has of them. Each look-up is a range of an index, so that its cost does not grow with the ledger. */
import { type RawBuilder, sql } from 'kysely'
import { type FindCursor, type FoundSwap, type LedgerAdmin, maxSharedDeposits, type SwapField } from '../core/ports/ledger-admin.ts'
import { accountKey, paymentAddressKey } from '../domain/address/same-address.ts'
import { isTransactionId, parseTransactionId } from '../domain/swap.ts'
import { addressDigest, digestOf } from './create-requests.ts'
import { type EntryRow, entryColumns, toEntry } from './entry.ts'
import { firstPosition, position, values } from './page-index.ts'
import type { State } from './schema/tables.ts'
import type { Store } from './store.ts'
import { readTimeline } from './timeline.ts'

/** Where a swap stands among those that a text finds. */
interface Hit {
  readonly cursor: FindCursor
  readonly fields: readonly SwapField[]
  /** Of a swap that was not created here: nothing else names its row. */
  readonly row?: SwapRow
}

interface SwapRow extends EntryRow {
  readonly intent: string | null
  readonly provider_id: string | null
  readonly state: State | 'refused' | 'ended'
  readonly attempted_at: number | null
  /** As text: it exceeds a number's precision. */
  readonly sort_key: string | null
}

/** First what the text names, newest first; then, if it names an account, its creates without an outcome, and the rest of its swaps. */
export function finder(store: Store): Pick<LedgerAdmin, 'find' | 'timeline'> {
  return {
    async find(text, size, after) {
      const hits: Hit[] = []
      const parts = [namedBy, unresolvedOf, entriesOf]
      for (const part of parts.slice(after?.part ?? 0)) {
        const from = after?.part === parts.indexOf(part) ? after : undefined
        if (hits.length <= size) hits.push(...(await part(store, text, size + 1 - hits.length, from)))
      }
      const page = hits.slice(0, size)
      const found = await loaded(store, page)
      return { found, ...(hits.length > size && { next: page.at(-1)?.cursor }) }
    },
    async timeline(id) {
      const [hit] = [...(await byGatewayId(store, id)), ...(await byIntent(store, id))]
      const [swap] = hit ? await loaded(store, [hit]) : []
      return swap && { swap, events: swap.intent === undefined ? [] : await readTimeline(store, swap.intent) }
    },
  }
}

type Part = (store: Store, text: string, maxHits: number, after: FindCursor | undefined) => Promise<readonly Hit[]>

const newestHitFirst = (one: Hit, other: Hit): number => (isBefore(one.cursor, other.cursor) ? -1 : 1)

function isBefore(one: FindCursor, other: FindCursor): boolean {
  return one.at > other.at || (one.at === other.at && one.key > other.key)
}

// What the text names: an id, a request, an address

const namedBy: Part = async (store, text, maxHits, after) => {
  const few = [...(await byId(store, text)), ...(await byDeposit(store, text)), ...(await byIntent(store, text))]
  const many = await byRequest(store, text, maxHits, after)
  const hits = [...few, ...many].filter(({ cursor }) => !after || isBefore(after, cursor))
  const merged = Map.groupBy(hits, ({ cursor }) => cursor.key)
  return [...merged.values()].map(mergedHit).toSorted(newestHitFirst).slice(0, maxHits)
}

function mergedHit(same: readonly Hit[]): Hit {
  const [first] = same as [Hit]
  return { ...first, fields: [...new Set(same.flatMap(({ fields }) => fields))] }
}

const columns = sql.join([
  ...entryColumns.map((column) => sql.ref(`transactions.${column}`)),
  ...(['intent', 'provider_id', 'state', 'attempted_at'] as const).map((column) => sql.ref(`transactions.${column}`)),
  sql`cast(transactions.sort_key as text) as sort_key`,
])

async function rowsWhere({ database }: Store, condition: RawBuilder<unknown>): Promise<readonly SwapRow[]> {
  const { rows } = await sql<SwapRow>`select ${columns} from transactions where ${condition}`.execute(database)
  return rows
}

/** The gateway's id of a transaction, or the provider's. */
async function byId(store: Store, text: string): Promise<readonly Hit[]> {
  const ofAny = isTransactionId(text) ? await rowsNamed(store, sql`provider in (select tag from providers)`, text) : []
  return [...(await byGatewayId(store, text)), ...ofAny.map((row) => hitOf(row, 'providerId'))]
}

/** Where no id is whole: the one that has it before its first dot, as people know swaps of FixedFloat. */
async function rowsNamed(store: Store, isOfTag: RawBuilder<unknown>, id: string): Promise<readonly SwapRow[]> {
  const whole = await rowsWhere(store, sql`${isOfTag} and provider_id = ${id}`)
  if (whole.length > 0 || id.includes('.')) return whole
  const isPart = sql`provider_id > ${`${id}.`} and provider_id < ${`${id}/`}`
  const [only, ...others] = await rowsWhere(store, sql`${isOfTag} and ${isPart} limit 2`)
  return only && others.length === 0 ? [only] : []
}

async function byGatewayId(store: Store, text: string): Promise<readonly Hit[]> {
  const { tag, id } = parseTransactionId(text)
  const rows = tag === undefined ? [] : await rowsNamed(store, sql`provider = ${tag}`, id)
  return rows.map((row) => hitOf(row, 'id'))
}

/** With its memo behind a space, or of any memo. */
async function byDeposit(store: Store, text: string): Promise<readonly Hit[]> {
  const [address = '', extraId] = text.split(/ +/, 2)
  const key = paymentAddressKey({ address, extraId })
  const [, memo] = JSON.parse(key) as readonly [string, string | null]
  // Of any memo: the key is JSON that begins with the address and a comma, which a hyphen follows.
  const account = JSON.stringify([accountKey(address)]).slice(0, -1)
  const isThere = memo === null ? sql`deposit > ${`${account},`} and deposit < ${`${account}-`}` : sql`deposit = ${key}`
  const rows = await rowsWhere(store, sql`${isThere} and state = 'done' order by deposit limit ${sql.lit(maxSharedDeposits)}`)
  return rows.map((row) => hitOf(row, 'depositAddress'))
}

async function byIntent(store: Store, text: string): Promise<readonly Hit[]> {
  const rows = [...(await rowsWhere(store, sql`intent = ${text}`)), ...(await withoutRow(store, text))]
  return rows.map((row) => hitOf(row, 'intent'))
}

/** Creates that ended as not created, and refused ones that may exist all the same. */
async function withoutRow({ database }: Store, intent: string): Promise<readonly SwapRow[]> {
  const { rows } = await sql<Pick<SwapRow, 'state' | 'intent' | 'owner' | 'provider' | 'requested' | 'attempted_at'>>`
    select 'ended' as state, intent, owner, provider, requested, attempted_at from ended where intent = ${intent}
    union all
    select 'refused' as state, intent, owner, provider, requested, attempted_at from refused_creates where intent = ${intent}`.execute(
    database,
  )
  return rows.map((row) => ({ ...emptyRow, ...row }))
}

const emptyRow = {
  ...{ provider_id: null, sort_key: null, status: null, attention: null, settled_at: null, reported_at: null, fetched_at: null },
  ...{ changed_at: null, missing_since: null, missing_at: null, sequence: null, sent: null, record: null },
}

function hitOf(row: SwapRow, field: SwapField): Hit {
  const { intent, provider, provider_id } = row
  return { cursor: { part: 0, at: timeOf(row), key: intent ?? `${provider}~${provider_id}` }, fields: [field], row }
}

/** When it was attempted, or created, in milliseconds. */
function timeOf({ attempted_at, sort_key }: SwapRow): number {
  return attempted_at ?? Number(-BigInt(sort_key ?? 0) / 1_000_000n)
}

const requestColumns = {
  request_id: 'requestId',
  idempotency_key: 'idempotencyKey',
  payout: 'withdrawalAddress',
  refund: 'refundAddress',
} as const satisfies Readonly<Record<string, SwapField>>

type RequestColumn = keyof typeof requestColumns

/** The request that made a create; each column has an index by time. */
async function byRequest(
  { database }: Store,
  text: string,
  maxHits: number,
  after: FindCursor | undefined,
): Promise<readonly Hit[]> {
  const wanted: Readonly<Record<RequestColumn, unknown>> = {
    request_id: text,
    idempotency_key: digestOf(text),
    payout: addressDigest(text),
    refund: addressDigest(text),
  }
  const follows = after ? sql`and at <= ${after.at} and (at < ${after.at} or intent < ${after.key})` : sql``
  const ranges = Object.entries(wanted).map(
    ([column, value]) => sql`select * from (
      select ${sql.lit(column)} as name, intent, at from create_requests where ${sql.ref(column)} = ${value} ${follows}
      order by at desc, intent desc limit ${sql.lit(maxHits)}
    ) as ${sql.ref(`by_${column}`)}`,
  )
  const { rows } = await sql<{ readonly name: RequestColumn; readonly intent: string; readonly at: number }>`
    ${sql.join(ranges, sql` union all `)}`.execute(database)
  return rows.map(({ name, intent, at }) => ({ cursor: { part: 0, at, key: intent }, fields: [requestColumns[name]] }))
}

// The swaps of an account, by its name or id, or by the beginning of its id or of the key's SHA-256 that the log has

async function ownerNamed({ database }: Store, text: string): Promise<string | undefined> {
  const { rows: accounts } = await sql<{ readonly id: string }>`
    select id from accounts where name = ${text.normalize()} union all select id from accounts where id = ${text}`.execute(database)
  if (accounts[0]) return accounts[0].id
  if (!/^[0-9a-f]{8}$|^[0-9a-f]{64}$/.test(text)) return undefined
  const first = (state: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select * from (
      select owner from transactions where ${state} and owner >= ${text} and owner < ${`${text}~`} order by owner limit 1
    ) as first`
  const { rows: owners } = await sql<{ readonly owner: string }>`
    ${first(sql`state = 'done'`)} union all ${first(sql`state <> 'done'`)}`.execute(database)
  return owners[0]?.owner
}

/** At most `maxOpenCreates` at each provider. */
const unresolvedOf: Part = async (store, text, maxHits, after) => {
  const owner = await ownerNamed(store, text)
  if (owner === undefined) return []
  const follows = after ? sql`and (attempted_at, intent) < (${after.at}, ${after.key})` : sql``
  const rows = await rowsWhere(
    store,
    sql`owner = ${owner} and state <> 'done' ${follows} order by attempted_at desc, intent desc limit ${sql.lit(maxHits)}`,
  )
  return rows.map((row) => ({ cursor: { part: 1, at: timeOf(row), key: row.intent ?? '' }, fields: ['account'], row }))
}

const entriesOf: Part = async (store, text, maxHits, after) => {
  const owner = await ownerNamed(store, text)
  if (owner === undefined) return []
  const from = after?.position ?? firstPosition
  const rows = await rowsWhere(
    store,
    sql`owner = ${owner} and state = 'done' and ${position} > (${values({ ...from, sort_key: BigInt(from.sort_key) })})
      order by transactions.sort_key, provider_id, provider limit ${sql.lit(maxHits)}`,
  )
  return rows.map((row) => {
    const { sort_key, provider_id, provider } = row
    const at = { sort_key: sort_key ?? '', provider_id: provider_id ?? '', provider }
    return { cursor: { part: 2, at: timeOf(row), key: '', position: at }, fields: ['account'], row }
  })
}

// The rows behind the hits

async function loaded(store: Store, hits: readonly Hit[]): Promise<readonly FoundSwap[]> {
  const { isIn, toList } = store
  const missing = hits.filter(({ row }) => !row).map(({ cursor }) => cursor.key)
  const rows = missing.length === 0 ? [] : await rowsWhere(store, sql`${isIn('intent', toList(missing))}`)
  const byKey = new Map(rows.map((row) => [row.intent, row]))
  const found = hits.flatMap(({ cursor, fields, row = byKey.get(cursor.key) }) => (row ? [{ row, fields }] : []))
  const requests = await requestsOf(
    store,
    found.flatMap(({ row: { intent } }) => intent ?? []),
  )
  const accounts = await accountsOf(store, [...new Set(found.map(({ row: { owner } }) => owner))])
  return found.map(({ row, fields }) => ({
    ...toFound(row),
    ...requests.get(row.intent ?? ''),
    account: accounts.get(row.owner),
    matched: fields,
  }))
}

function toFound(row: SwapRow): Omit<FoundSwap, 'matched'> {
  const { intent, state, owner, provider, provider_id, attempted_at, requested } = row
  return {
    intent: intent ?? undefined,
    state,
    owner,
    provider,
    providerId: provider_id ?? undefined,
    attemptedAt: attempted_at ?? undefined,
    ...(state === 'done' ? { entry: toEntry(row) } : { requested: JSON.parse(requested ?? '{}') }),
  }
}

async function requestsOf(
  { database, isIn, toList }: Store,
  intents: readonly string[],
): Promise<ReadonlyMap<string, Pick<FoundSwap, 'requestId' | 'keyId'>>> {
  if (intents.length === 0) return new Map()
  const { rows } = await sql<{ readonly intent: string; readonly request_id: string | null; readonly key_id: string | null }>`
    select intent, request_id, key_id from create_requests where ${isIn('intent', toList(intents))}`.execute(database)
  return new Map(
    rows.map(({ intent, request_id, key_id }) => [intent, { requestId: request_id ?? undefined, keyId: key_id ?? undefined }]),
  )
}

async function accountsOf({ database, isIn, toList }: Store, owners: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (owners.length === 0) return new Map()
  const { rows } = await sql<{ readonly id: string; readonly name: string }>`
    select id, name from accounts where ${isIn('id', toList(owners))}`.execute(database)
  return new Map(rows.map(({ id, name }) => [id, name]))
}
