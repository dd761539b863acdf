import type { Status } from '../domain/status.ts'
import { BoundedMap } from './bounded-map.ts'
import type { Entry, Ledger } from './ledger.ts'

/** How long what the ledger said serves again, in milliseconds: clients ask for one transaction in bursts. */
const lifetimeMs = 1_000
/** While a request took longer than this, another process may have seen more: the ledger is asked anew. */
const shortRequestMs = 100
/** How long what this process has seen is compared with what comes in later, in milliseconds: no request takes that long. */
const notedLifetimeMs = 60_000
/** A bound on memory. What is dropped is read from the ledger again. */
const mostKept = 10_000

/** What one owner may know of one transaction, as far as this process does. It changes in place. */
export interface Known {
  /** What the ledger had when it was last asked; undefined where it fails. */
  stored: Entry | undefined
  /** What was shown last, where the ledger does not have it as it was shown. */
  noted: Entry | undefined
  /** Whether the ledger has lately given it to another owner. */
  isForeign: boolean
  /** While what is noted is on its way into the ledger. */
  isWriting: boolean
}

interface Kept extends Known {
  readonly key: string
  lookedAt: number
  notedAt: number
}

/** One provider's entries, which need not be asked for with every look. What is seen here is known at once. */
export interface Recent extends Pick<Ledger, 'see'> {
  /**
   * `sentAt`: when the request went up whose answer it is compared with, on the clock of `performance.now()`. `reported`: the
   * status in that answer. Where it is news, another process may have brought the end.
   */
  readonly find: (owner: string, id: string, sentAt: number, reported: Status | undefined) => Promise<Known>
  /** Of these only what is noted is remembered. */
  readonly findAll: (owner: string, ids: readonly string[]) => Promise<ReadonlyMap<string, Known>>
  /** `isNews`: it is on its way into the ledger. */
  readonly note: (known: Known, entry: Entry, isNews: boolean) => void
}

export function recent(ledger: Ledger, provider: string): Recent {
  const entries = new BoundedMap<Kept>({ maxEntries: mostKept })
  const recall = (key: string, now: number): Kept | undefined => {
    const kept = entries.get(key)
    if (kept && now - kept.notedAt >= notedLifetimeMs) kept.noted = undefined
    return kept
  }
  const keptOf = (owner: string, id: string, now: number): Kept => {
    const key = `${owner} ${id}`
    return recall(key, now) ?? nothing(key)
  }
  const remember = (kept: Kept): void => {
    if (entries.get(kept.key) === kept) return
    entries.set(kept.key, kept)
  }
  return {
    async find(owner, id, sentAt, reported) {
      const key = `${owner} ${id}`
      const now = performance.now()
      const kept = recall(key, now) ?? entries.set(key, nothing(key))
      const isNews = kept.stored !== undefined && kept.stored.transaction.status !== reported
      if (!isNews && now - kept.lookedAt < lifetimeMs && now - sentAt < shortRequestMs) return kept
      learn(kept, await ledger.find(owner, provider, id).catch(() => undefined), now)
      return kept
    },
    async findAll(owner, ids) {
      const now = performance.now()
      const stored = await ledger.findAll(owner, provider, ids).catch(() => [])
      const byId = new Map(stored.map((entry) => [entry.transaction.id, entry]))
      return new Map(ids.map((id) => [id, learn(keptOf(owner, id, now), byId.get(id), now)]))
    },
    note(known, entry, isNews) {
      const kept = known as Kept
      if (isNews) remember(kept)
      kept.noted = entry
      kept.notedAt = performance.now()
    },
    async see(owner, _, facts, before) {
      const stored = await ledger.see(owner, provider, facts, before)
      const now = performance.now()
      const kept = learn(keptOf(owner, facts.transaction.id, now), stored, now)
      kept.isForeign = stored === undefined
      if (kept.noted && (kept.noted.sequence ?? 0) <= (stored?.sequence ?? -1)) kept.noted = undefined
      return stored
    },
  }
}

function nothing(key: string): Kept {
  const never = Number.NEGATIVE_INFINITY
  return { key, stored: undefined, noted: undefined, isForeign: false, isWriting: false, lookedAt: never, notedAt: never }
}

function learn(kept: Kept, stored: Entry | undefined, lookedAt: number): Kept {
  kept.stored = stored
  kept.isForeign &&= stored === undefined
  kept.lookedAt = lookedAt
  return kept
}
