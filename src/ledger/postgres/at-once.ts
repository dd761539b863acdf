/**
 * Kysely: what waits for PostgreSQL goes up together, in one statement with one flush: intents before they are sent, and results before
 * their responses. A statement takes only what is plain: a new key, an id that no row has. For each of the others `creates.ts` has
 * the transition in its steps.
 */
import { sql } from 'kysely'
import { type Intent, maxOpenCreates } from '../../core/ports/ledger.ts'
import { currentSpans, withSpans } from '../../domain/current-span.ts'
import type { Span } from '../../domain/trace.ts'
import { otherTags } from '../accounts.ts'
import { requestRow } from '../create-requests.ts'
import type { Database, LedgerClock, Write } from '../database.ts'
import { entryOfCreate } from '../entries.ts'
import { storeFirst } from '../entry.ts'
import { hasExpired, renewedAt } from '../idempotency-keys.ts'
import { firstPosition, maxSegmentEntries, position, splitFirstSegment } from '../page-index.ts'
import type { AtOnce, Completion, Store } from '../store.ts'
import { eventOf, numberBase } from '../transaction-events.ts'
import type { DatabaseEncoding } from './encoding.ts'
import { commits, isServerError, maxAtOnce } from './pools.ts'

interface Resources {
  /** Where one statement is one transaction: of intents, and of results. */
  readonly database: Database
  readonly results: Database
  readonly write: Write
  readonly withRetries: <T>(work: () => Promise<T>) => Promise<T>
  readonly track: <T>(work: Promise<T>) => Promise<T>
  readonly clock: LedgerClock
  readonly databaseTimeMs: Store['databaseTimeMs']
  readonly newEvents: Store['newEvents']
  readonly encoding: DatabaseEncoding
}

export function atOnce(resources: Resources): AtOnce {
  const { database, results, write, withRetries, track, newEvents } = resources
  const completeAndSplit = async (completions: readonly Completion[]): Promise<ReadonlyMap<string, 'done'>> => {
    const { completed, tooLarge } = await withRetries(() => complete(results, completions, resources))
    newEvents.committed()
    // A segment that stays too large is split after the next create.
    for (const owner of tooLarge) void track(write((within) => splitFirstSegment(within, owner))).catch(() => {})
    return completed
  }
  const tracked =
    <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    (...args: Args) =>
      track(call(...args))
  return {
    begin: tracked(together((intents) => begin(database, intents, resources))),
    complete: tracked(together(completeAndSplit)),
    maxAlone: 5,
  }
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly isAwaited: () => boolean
  /** Of the request that waits. */
  readonly spans: readonly Span[]
  readonly result: PromiseWithResolvers<Result | undefined>
}

/** The second one is for what comes while the first one is being flushed, or while its connection is silent. */
const maxStatements = 2

/**
 * While statements are under way, others wait for the next one. Resolves with what the statement says of the item, by its id; undefined:
 * nothing. One that the server refuses says nothing.
 */
function together<Item extends { readonly id: string }, Result>(
  run: (items: readonly Item[]) => Promise<ReadonlyMap<string, Result>>,
) {
  let waiting: Waiting<Item, Result>[] = []
  let running = 0
  /** Behind a statement that was silent one goes first: what the server does not confirm must not become many. */
  let most = maxAtOnce
  const runAwaited = async (awaited: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await withSpans(
        awaited.flatMap(({ spans }) => spans),
        () => run(awaited.map(({ item }) => item)),
      )
      most = maxAtOnce
      for (const { item, result } of awaited) result.resolve(results.get(item.id))
    } catch (reason) {
      if (!isServerError(reason)) most = 1
      for (const { result } of awaited) isServerError(reason) ? result.resolve(undefined) : result.reject(reason)
    }
  }
  const runWaiting = async (): Promise<void> => {
    running++
    while (waiting.length > 0) {
      const taken = waiting.splice(0, most)
      for (const { isAwaited, result } of taken) if (!isAwaited()) result.resolve(undefined)
      const awaited = taken.filter(({ isAwaited }) => isAwaited())
      if (awaited.length > 0) await runAwaited(awaited)
    }
    running--
  }
  return (item: Item, isAwaited = () => true): Promise<Result | undefined> => {
    const result = Promise.withResolvers<Result | undefined>()
    // Behind a statement that is silent nobody waits longer than its own request.
    const { true: awaited = [], false: over = [] } = Object.groupBy(waiting, (each) => `${each.isAwaited()}`)
    for (const each of over) each.result.resolve(undefined)
    waiting = awaited
    waiting.push({ item, isAwaited, spans: currentSpans(), result })
    if (running < maxStatements) void withSpans([], runWaiting)
    return result.promise
  }
}

/** A lock that is held for longer must not stop what does not need it: then each goes alone. */
const lockTimeout = '250ms'
const ownCommit = sql`${sql.raw(commits)} (
      select set_config('synchronous_commit', 'on', true) as flushed, set_config('lock_timeout', ${sql.lit(lockTimeout)}, true) as locks
    )`

/** PostgreSQL makes no join of a subquery with an offset: it looks into an index for each row, however many it expects. */
const rowByRow = sql`offset 0`

/** Of an account: what other statements and processes begin at the same time is not counted yet. Beyond that each is counted by itself. */
const maxUncounted = maxOpenCreates / 2

/**
 * A key is in use if the last create with it neither has expired nor still gets its quote. Its row and that of a firm quote are made and
 * changed only together with the create's: the quote is locked before its key is stored.
 */
async function begin(
  database: Database,
  intents: readonly Intent[],
  { clock, databaseTimeMs, encoding }: Resources,
): Promise<ReadonlyMap<string, 'begun' | 'keyInUse'>> {
  const begunAt = clock.at(clock.read())
  const isHeld = sql`(firm_quote is null or intent in (select intent from held))`
  const { rows } = await sql<{ readonly intent: string; readonly outcome: 'begun' | 'keyInUse' }>`${ownCommit}, input as (
      select input.* from own_commit cross join json_to_recordset(${encoding.rows(JSON.stringify(eachQuoteOnce(intents).map(intentRow)))}) as input (
        intent text collate "C", owner text collate "C", provider text collate "C", attempted_at bigint, quoting bigint,
        next_check_at bigint, requested text, sent text, destination text, deadline bigint, traceparent text, quoted text,
        key text collate "C", fingerprint text, request text, request_id text, key_id text, idempotency_key bigint,
        payout bigint, refund bigint, firm_quote text collate "C"
      )
      where flushed is not null and locks is not null and not exists (
        select 1 from transactions where state <> 'done' and owner = input.owner and provider = input.provider
        limit 1 offset ${sql.lit(maxUncounted)}
      )
    ), held as (
      select asked.intent, quote.id from (select * from input where firm_quote is not null order by firm_quote) as asked
      cross join lateral (
        select id from firm_quotes
        where id = asked.firm_quote and owner = asked.owner and firm_quotes.intent is null and valid_until > ${databaseTimeMs}
        for update
      ) as quote
    ), keyed as (
      insert into claims (intent, owner, key, fingerprint, request, created_at)
      select intent, owner, key, fingerprint, request, ${begunAt} from input where key is not null and ${isHeld} order by owner, key
      on conflict do nothing returning intent
    ), begun as (
      insert into transactions (
        intent, owner, provider, state, attempted_at, quoting, next_check_at, begun_at, requested, sent, destination, deadline, traceparent,
        quoted
      )
      select intent, owner, provider, 'pending', attempted_at, quoting, next_check_at, ${begunAt}, requested, sent, destination, deadline,
        traceparent, quoted
      from input where (key is null or intent in (select intent from keyed)) and ${isHeld}
      on conflict (intent) do nothing returning intent
    ), requests as (
      insert into create_requests (intent, at, request_id, key_id, idempotency_key, payout, refund)
      select intent, attempted_at, request_id, key_id, idempotency_key, payout, refund from input
      where intent in (select intent from begun)
    ), quoted as (
      update firm_quotes set intent = (select held.intent from held where held.id = firm_quotes.id)
      where id = any (array(select held.id from held join begun on begun.intent = held.intent))
    )
    select intent, 'begun' as outcome from begun
    union all
    select input.intent, 'keyInUse' from input where exists (
      select 1 from claims join transactions as earlier on earlier.intent = claims.intent
      where claims.owner = input.owner and claims.key = input.key and earlier.intent <> input.intent and earlier.quoting is null
        and (earlier.state in ('pending', 'unknown') or not ${hasExpired(clock)}) ${rowByRow}
    )`.execute(database)
  return new Map(rows.map(({ intent, outcome }) => [intent, outcome]))
}

/** Of several creates with one firm quote at a time only one may have it: the others go alone. */
function eachQuoteOnce(intents: readonly Intent[]): readonly Intent[] {
  const quotes = new Set<string>()
  return intents.filter(({ firmQuote }) => {
    if (firmQuote === undefined) return true
    const isFirst = !quotes.has(firmQuote)
    quotes.add(firmQuote)
    return isFirst
  })
}

function intentRow(intent: Intent) {
  const { id, owner, provider, attemptedAt, isQuoting, nextCheckAt, requested, sent, destination, deadline, traceparent } = intent
  const { firmQuote: firm_quote, quote } = intent
  const { key, fingerprint, request } = intent.idempotencyKey ?? {}
  const { request_id, key_id, idempotency_key, payout, refund } = requestRow(intent)
  return {
    ...{ request_id, key_id, idempotency_key: idempotency_key?.toString(), payout: payout?.toString(), refund: refund?.toString() },
    ...{
      firm_quote,
      intent: id,
      owner,
      provider,
      attempted_at: attemptedAt,
      quoting: isQuoting ? 1 : null,
      next_check_at: nextCheckAt,
    },
    ...{ requested: JSON.stringify(requested), sent: sent && JSON.stringify(sent), deadline, traceparent },
    ...{
      destination: destination && JSON.stringify(destination),
      quoted: quote && JSON.stringify(quote),
      key,
      fingerprint,
      request: request && JSON.stringify(request),
    },
  }
}

/** The columns of an entry, all of them: what `json_to_recordset` is not told it drops without a word. */
const entryColumns = {
  provider_id: 'text collate "C"',
  sort_key: 'bigint',
  status: 'text collate "C"',
  attention: 'text collate "C"',
  reported_at: 'bigint',
  fetched_at: 'bigint',
  changed_at: 'bigint',
  missing_since: 'bigint',
  missing_at: 'bigint',
  sequence: 'bigint',
  record: 'text',
  deposit: 'text collate "C"',
} as const satisfies Record<keyof ReturnType<typeof entryOfCreate>, string>

const entryTypes = sql.raw(
  Object.entries(entryColumns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', '),
)
const entryFromInput = sql.raw(
  Object.keys(entryColumns)
    .map((name) => `${name} = input.${name}`)
    .join(', '),
)

interface Completed {
  /** By ids of intents. */
  readonly completed: ReadonlyMap<string, 'done'>
  /** Owners whose newest segment has more entries than one should. */
  readonly tooLarge: ReadonlySet<string>
}

/**
 * The owner's newest segment counts them, under its lock, as `addToPageIndex` does: if another process has divided it meanwhile, the
 * statement fails by the division. Where two of them have one deposit address, the first has it: the others go alone, and so does one whose
 * address another swap has or had.
 */
async function complete(
  database: Database,
  completions: readonly Completion[],
  { clock, databaseTimeMs, encoding }: Resources,
): Promise<Completed> {
  const first = sql`sort_key = ${sql.lit(firstPosition.sort_key.toString())}::bigint`
  const { rows } = await sql<{ readonly intent: string; readonly owner: string; readonly entries: number }>`${ownCommit}, input as (
      select input.* from own_commit cross join json_to_recordset(${encoding.rows(JSON.stringify(completions.map(completionRow)))}) as input (
        intent text collate "C", owner text collate "C", provider text collate "C", ${entryTypes}, first text, tags json,
        digest text, event text, is_final bigint
      )
      where flushed is not null and locks is not null
    ), segments as (
      select owner, older from page_index
      where owner in (select owner from input) and ${first}
    ), possible as (
      select input.* from input
        join transactions on transactions.intent = input.intent join segments on segments.owner = input.owner
      where transactions.state in ('pending', 'unknown')
        and not exists (
          select 1 from transactions as holder where holder.provider = input.provider and holder.provider_id = input.provider_id
        )
        and not exists (
          select 1 from pruned_ids where pruned_ids.provider = input.provider and pruned_ids.provider_id = input.provider_id
        )
        and not exists (
          select 1 from transactions as other where other.deposit = input.deposit and other.state = 'done' ${rowByRow}
        )
        and not exists (${otherTags(sql`input.provider`)})
        and not exists (
          select 1 from mismatch_streaks where mismatch_streaks.provider in (select json_array_elements_text(input.tags))
        )
        and not exists (
          select 1 from page_index where page_index.owner = input.owner and not ${first}
            and ${position} <= (input.sort_key, input.provider_id, input.provider)
        )
    ), taken as (
      insert into open_deposits (deposit, provider, provider_id, taken_at)
      select deposit, provider, provider_id, ${databaseTimeMs} from possible where deposit is not null order by deposit
      on conflict (deposit) do nothing returning provider, provider_id
    ), completed as (
      update transactions set state = 'done', next_check_at = null, ${entryFromInput}
      from possible as input
      where transactions.intent = input.intent and transactions.state in ('pending', 'unknown')
        and (input.deposit is null or (input.provider, input.provider_id) in (select provider, provider_id from taken))
      returning transactions.intent, transactions.owner
    ), renewed as (
      update claims set first = input.first, created_at = ${renewedAt(clock)}
      from completed join input on input.intent = completed.intent where claims.intent = completed.intent
    ), locked as (
      select owner, older from page_index where owner in (select owner from completed) and ${first} order by owner for update
    ), counted as (
      update page_index set entries = entries + added.entries_added
      from (select owner, count(*) as entries_added from completed group by owner) as added
        join locked on locked.owner = added.owner join segments on segments.owner = added.owner and segments.older = locked.older
      where page_index.owner = added.owner and ${first}
      returning page_index.owner, page_index.entries
    ), events as (
      insert into transaction_events (owner, provider, provider_id, at, transaction_number, digest, state, is_final)
      select input.owner, input.provider, input.provider_id, ${databaseTimeMs}, ${numberBase} + 1, input.digest, input.event, input.is_final
      from completed join input on input.intent = completed.intent
    )
    select intent, completed.owner, entries, 1 / (case when counted.owner is null then 0 else 1 end) as is_counted
    from completed left join counted on counted.owner = completed.owner`.execute(database)
  return {
    completed: new Map(rows.map(({ intent }) => [intent, 'done'])),
    tooLarge: new Set(rows.filter(({ entries }) => entries > maxSegmentEntries).map(({ owner }) => owner)),
  }
}

function completionRow({ id, create, record, tags }: Completion) {
  const { owner, provider } = create
  const { sort_key, provider_id, deposit, ...row } = entryOfCreate(create, record)
  const { digest, state: event, is_final } = eventOf({ ...row, owner, provider, settled_at: null, requested: '', sent: null })
  return {
    ...{ intent: id, owner, provider, ...row, provider_id, deposit, sort_key: sort_key.toString() },
    ...{ first: storeFirst(record), tags, digest, event, is_final },
  }
}
