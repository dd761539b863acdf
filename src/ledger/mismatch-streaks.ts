/** Kysely: mismatches in a row, over all processes, and the assets that they suspend (docs/contract-operators.md §10.3). */
import { sql } from 'kysely'
import { afterMismatch, type JudgedAsset, type MismatchStreak, type SuspensionStore } from '../core/mismatch-streaks.ts'
import type { Database } from './database.ts'
import type { Store } from './store.ts'

/** A streak to which nothing was added for so long is forgotten. */
const retentionMs = 7 * 86_400_000
const maxRead = 1_000

type StreakStore = Pick<Store, 'databaseTimeMs' | 'lock'>

export function suspensions(store: Store): SuspensionStore {
  const { database } = store
  return {
    async read() {
      const rows = streaks(database, store).where('since', 'is not', null).orderBy('since', 'desc').limit(maxRead)
      return (await rows.execute()).map(toStreak)
    },
  }
}

/** Counts a mismatch in the transaction that stores it. Returns the suspensions that begin with it. */
export async function countMismatch(
  within: Database,
  intent: string,
  judged: readonly JudgedAsset[],
  store: StreakStore,
): Promise<readonly MismatchStreak[]> {
  const counted = judged.filter(({ refused }) => refused.length > 0)
  const [{ tags } = { tags: [] }] = counted
  if (tags.length === 0) return []
  await store.lock(within, 'mismatches')
  await within.deleteFrom('mismatch_streaks').where(sql<boolean>`changed_at < ${store.databaseTimeMs} - ${retentionMs}`).execute()
  // A create that passes at the same time waits, and ends what is counted here.
  const before = (await streaksAt(within, tags, store).forUpdate().execute()).map(toStreak)
  for (const asset of counted) {
    const own = before.filter(asset.isOf)
    const after = afterMismatch(own, asset, intent)
    for (const streak of own) if (!after.includes(streak)) await remove(within, streak)
    for (const streak of after) if (!own.includes(streak)) await insert(within, streak, store)
  }
  const all = (await streaksAt(within, tags, store).execute()).map(toStreak)
  return all.filter(({ suspension, intents }) => suspension && intents.at(-1) === intent)
}

/** Ends the streaks of these assets, in the transaction of a create that passed. */
export async function endStreaks(within: Database, judged: readonly JudgedAsset[], store: StreakStore): Promise<void> {
  const [{ tags } = { tags: [] }] = judged
  if (tags.length === 0) return
  const ended = (await streaksAt(within, tags, store).execute()).map(toStreak)
  for (const streak of ended) if (judged.some(({ isOf }) => isOf(streak))) await remove(within, streak)
}

/** Ends all streaks at these tags, and returns them. */
export async function endStreaksAt(
  within: Database,
  tags: readonly string[],
  store: StreakStore,
): Promise<readonly MismatchStreak[]> {
  if (tags.length === 0) return []
  const ended = (await streaksAt(within, tags, store).execute()).map(toStreak)
  await within.deleteFrom('mismatch_streaks').where('provider', 'in', tags).execute()
  return ended
}

function streaks(database: Database, { databaseTimeMs }: StreakStore) {
  const age = sql<number | null>`${databaseTimeMs} - since`.as('age')
  const columns = ['provider', 'kind', 'asset', 'sent', 'network', 'intents', 'since'] as const
  return database.selectFrom('mismatch_streaks').select([...columns, age])
}

function streaksAt(within: Database, tags: readonly string[], store: StreakStore) {
  return streaks(within, store).where('provider', 'in', tags)
}

type Row = Awaited<ReturnType<ReturnType<typeof streaks>['execute']>>[number]

function toStreak({ provider, kind, asset, sent, network, intents, since, age }: Row): MismatchStreak {
  return {
    provider,
    kind,
    asset: JSON.parse(asset),
    sent: JSON.parse(sent),
    network: network ?? undefined,
    intents: JSON.parse(intents),
    suspension: since === null ? undefined : { since: Number(since), ageMs: Number(age) },
  }
}

async function insert(within: Database, streak: MismatchStreak, { databaseTimeMs }: StreakStore): Promise<void> {
  const { provider, kind, network = null, suspension } = streak
  const row = {
    sent: JSON.stringify(streak.sent),
    network,
    intents: JSON.stringify(streak.intents),
    since: suspension ? databaseTimeMs : null,
    changed_at: databaseTimeMs,
  }
  await within
    .insertInto('mismatch_streaks')
    .values({ provider, kind, asset: JSON.stringify(streak.asset), ...row })
    .execute()
}

async function remove(within: Database, { provider, kind, asset }: MismatchStreak): Promise<void> {
  const row = within.deleteFrom('mismatch_streaks').where('provider', '=', provider).where('kind', '=', kind)
  await row.where('asset', '=', JSON.stringify(asset)).execute()
}
