/** A simple model of the ledger: every store is compared with it. */
import type {
  IdempotencyKeyState,
  Intent,
  LedgerEntry,
  LedgerListQuery,
  TransactionRecord,
  UnresolvedCreate,
} from '../../src/core/ports/ledger.ts'
import { toInstant } from '../../src/domain/instant.ts'
import type { Transaction } from '../../src/domain/swap.ts'

interface Row {
  readonly intent?: Intent
  readonly owner: string
  readonly provider: string
  id?: string | undefined
  state: 'pending' | 'unknown' | 'done' | 'mismatch'
  nextCheckAt?: number | undefined
  checkCount: number
  facts?: TransactionRecord
  createdAt?: bigint
}

interface Held {
  readonly owner: string
  readonly key: string
  readonly fingerprint: string
  /** Of the create, or of its outcome. */
  madeAt: number
  row: Row
  first?: TransactionRecord | undefined
}

const hour = 3_600_000
const day = 24 * hour
const isEnd = (status: string | undefined) => status === 'success' || status === 'refunded'
const milliseconds = (time: number) => BigInt(time) * 1_000_000n

export class Model {
  private rows: Row[] = []
  private ended: Row[] = []
  private pruned: { readonly provider: string; readonly id: string; readonly at: number }[] = []
  private keys: Held[] = []

  begin(intent: Intent): boolean {
    const { owner, provider, idempotencyKey, nextCheckAt } = intent
    const held = idempotencyKey && this.keys.find((each) => each.owner === owner && each.key === idempotencyKey.key)
    if (held && (held.madeAt >= Date.now() - day || isOpen(held.row))) return false
    this.keys = this.keys.filter((each) => each !== held)
    const row: Row = { intent, owner, provider, state: 'pending', nextCheckAt, checkCount: 0 }
    this.rows.push(row)
    if (idempotencyKey) this.keys.push({ owner, ...idempotencyKey, madeAt: Date.now(), row })
    return true
  }

  drop(intent: string): void {
    const row = this.open(intent)
    if (row) this.remove(row)
  }

  none(intent: string): boolean {
    const row = this.rows.find((each) => each.intent?.id === intent && each.state !== 'done')
    if (!row) return false
    this.remove(row)
    this.ended.push(row)
    return true
  }

  doubt(intent: string, nextCheckAt: number): void {
    const row = this.open(intent)
    if (row) Object.assign(row, { state: 'unknown', nextCheckAt })
  }

  settle(intent: string, facts: TransactionRecord): boolean {
    const row = this.row(intent)
    const { id } = facts.transaction
    if (row.state === 'mismatch') return false
    if (row.state === 'done' && row.id !== id) {
      if (!this.holder(row.provider, id) && !this.isPruned(row.provider, id)) this.upsert(row.owner, row.provider, facts)
      throw new Error('settled with another id')
    }
    if (row.state === 'done') return true
    const holder = this.holder(row.provider, id)
    for (const key of this.keys) if (key.row === row) key.madeAt = Date.now()
    const isAnothers = holder && (holder.intent || wasThereBefore(holder.facts, facts))
    if (isAnothers || this.isPruned(row.provider, id)) {
      Object.assign(row, { state: 'mismatch', nextCheckAt: undefined })
      return false
    }
    for (const key of this.keys) if (key.row === row) key.first = facts
    this.enter(row, facts, holder)
    return true
  }

  /** Returns the suspensions that begin with it: none, as no asset is named. */
  contradict(intent: string, reported: Transaction): readonly [] {
    const row = this.row(intent)
    if (row.state === 'done') throw new Error('settled')
    const holder = this.holder(row.provider, reported.id)
    // Nobody gets what the response withholds from a row that was only listed.
    const response = { transaction: reported, derived: [], reportedAt: 0, sequence: Number.POSITIVE_INFINITY }
    const isListed = holder?.state === 'done' && !holder.intent && !wasThereBefore(holder.facts, response)
    if (isListed) this.rows.splice(this.rows.indexOf(holder), 1)
    const isAnothers = holder && holder !== row && !isListed
    Object.assign(row, { state: 'mismatch', nextCheckAt: undefined, id: isAnothers ? undefined : reported.id })
    for (const key of this.keys) if (key.row === row) key.madeAt = Date.now()
    return []
  }

  bind(intent: string, id: string, at: number): 'bound' | 'taken' | 'missing' {
    const row = this.rows.find((each) => each.intent?.id === intent && each.state !== 'done')
    if (!row?.intent) return 'missing'
    const holder = this.holder(row.provider, id)
    if ((holder && holder !== row && holder.intent) || this.isPruned(row.provider, id)) return 'taken'
    const createdAt = new Date(row.intent.attemptedAt).toISOString()
    for (const key of this.keys) if (key.row === row) key.madeAt = Date.now()
    this.enter(
      row,
      { transaction: { ...row.intent.requested, id, status: 'wait', createdAt } as Transaction, derived: [], reportedAt: at },
      holder,
    )
    return 'bound'
  }

  upsert(owner: string, provider: string, facts: TransactionRecord): LedgerEntry | undefined {
    const { id, createdAt } = facts.transaction
    const holder = this.holder(provider, id)
    if (holder && (holder.owner !== owner || holder.state !== 'done')) return undefined
    if (holder) {
      holder.facts = renewed(holder.facts, facts)
      return entryOf(holder)
    }
    const row: Row = {
      owner,
      provider,
      id,
      state: 'done',
      checkCount: 0,
      facts,
      createdAt: toInstant(createdAt) ?? milliseconds(facts.reportedAt),
    }
    this.rows.push(row)
    return entryOf(row)
  }

  find(owner: string, provider: string, id: string): LedgerEntry | undefined {
    const holder = this.holder(provider, id)
    return holder?.state === 'done' && holder.owner === owner ? entryOf(holder) : undefined
  }

  list(owner: string, { page, size, created }: LedgerListQuery): { entries: LedgerEntry[]; total: number } {
    const rows = this.rows.filter((row) => row.owner === owner && row.state === 'done' && within(row, created))
    const sorted = rows.toSorted(
      (a, b) => compare(b.createdAt, a.createdAt) || compare(a.id, b.id) || compare(a.provider, b.provider),
    )
    return { entries: sorted.slice((page - 1) * size, page * size).map(entryOf), total: rows.length }
  }

  findIdempotencyKey(owner: string, key: string): IdempotencyKeyState | undefined {
    const idempotencyKey = this.keys.find((each) => each.owner === owner && each.key === key)
    if (!idempotencyKey) return undefined
    const { row, fingerprint, first } = idempotencyKey
    const { provider, nextCheckAt } = row
    const intent = row.intent?.id ?? ''
    const progress = {
      isRunning: row.state === 'pending',
      isBeingChecked: nextCheckAt !== undefined && row.checkCount % 2 === 1,
      nextCheckAt,
    }
    if (isOpen(row)) return { intent, state: 'open', fingerprint, provider, ...progress }
    if (idempotencyKey.madeAt < Date.now() - day) return undefined
    if (row.state === 'mismatch') return { intent, state: 'mismatch', fingerprint, provider }
    return { intent, state: 'done', fingerprint, entry: entryOf(row), first }
  }

  expireIdempotencyKeys(): number {
    const kept = this.keys.filter((key) => key.madeAt >= Date.now() - day || isOpen(key.row))
    const gone = this.keys.length - kept.length
    this.keys = kept
    return gone
  }

  due(now: number, owners: readonly string[]): UnresolvedCreate[] {
    const rows = this.rows.filter(
      (row) => isOpen(row) && row.nextCheckAt !== undefined && row.nextCheckAt <= now && owners.includes(row.owner),
    )
    return rows.toSorted((a, b) => compare(a.nextCheckAt, b.nextCheckAt)).map(openOf)
  }

  take(open: UnresolvedCreate, next: number | undefined): boolean {
    const row = this.open(open.intent)
    if (!row || row.checkCount !== open.checkCount || row.nextCheckAt !== open.nextCheckAt) return false
    Object.assign(row, { state: 'unknown', nextCheckAt: next, checkCount: row.checkCount + 1 })
    return true
  }

  /** Those of unknown outcome, and after them those that a provider contradicted. */
  unresolvedAt(provider: string): UnresolvedCreate[] {
    const rows = this.rows.filter((row) => row.state !== 'done' && row.provider === provider)
    const sorted = rows.toSorted((a, b) => compare(a.intent?.attemptedAt, b.intent?.attemptedAt))
    return [...sorted.filter(isOpen), ...sorted.filter((row) => !isOpen(row))].map(openOf)
  }

  held(provider: string, ids: readonly string[]): Set<string> {
    return new Set(ids.filter((id) => this.holder(provider, id)?.intent || this.isPruned(provider, id)))
  }

  hasOwner(owner: string): boolean {
    return this.rows.some((row) => row.owner === owner)
  }

  /** Of all times: what ended, but for what a key or a create of unknown outcome needs, or a late deposit revives. */
  prune(): void {
    const now = Date.now()
    this.pruned = this.pruned.filter(({ at }) => at >= now - 30 * day)
    for (const row of this.rows.filter((each) => isPrunable(each) && !this.isNeeded(each))) {
      this.remove(row)
      if (row.intent) this.pruned.push({ provider: row.provider, id: row.id ?? '', at: now })
    }
  }

  private isNeeded(row: Row): boolean {
    const isNear = (other: Row): boolean => {
      const apart = (row.createdAt ?? 0n) - milliseconds(other.intent?.attemptedAt ?? 0)
      return apart >= -milliseconds(hour) && apart <= milliseconds(hour)
    }
    return (
      this.keys.some((key) => key.row === row && key.madeAt >= Date.now() - day) ||
      this.rows.some((other) => isOpen(other) && other.provider === row.provider && isNear(other))
    )
  }

  private isPruned(provider: string, id: string): boolean {
    return this.pruned.some((each) => each.provider === provider && each.id === id)
  }

  private row(intent: string): Row {
    const row = this.rows.find((each) => each.intent?.id === intent) ?? this.revived(intent)
    if (!row) throw new Error('no such create')
    return row
  }

  private revived(intent: string): Row | undefined {
    const row = this.ended.find((each) => each.intent?.id === intent)
    if (!row) return undefined
    this.ended = this.ended.filter((each) => each !== row)
    Object.assign(row, { state: 'unknown', id: undefined, nextCheckAt: undefined, checkCount: 0 })
    this.rows.push(row)
    return row
  }

  private open(intent: string): Row | undefined {
    return this.rows.find((row) => row.intent?.id === intent && isOpen(row))
  }

  private holder(provider: string, id: string): Row | undefined {
    return this.rows.find((row) => row.provider === provider && row.id === id)
  }

  private remove(row: Row): void {
    this.rows = this.rows.filter((each) => each !== row)
    this.keys = this.keys.filter((key) => key.row !== row)
  }

  private enter(row: Row, facts: TransactionRecord, before: Row | undefined): void {
    if (before && before !== row) {
      for (const key of this.keys) if (key.row === before) key.row = row
      this.remove(before)
    }
    const own = milliseconds(row.intent?.attemptedAt ?? 0)
    const providerCreatedAt = toInstant(facts.transaction.createdAt) ?? own
    const isNear = providerCreatedAt >= own - milliseconds(120_000) && providerCreatedAt <= own + milliseconds(600_000)
    const end = before && before !== row ? withLater(before.facts, facts) : facts
    Object.assign(row, {
      state: 'done',
      id: facts.transaction.id,
      nextCheckAt: undefined,
      facts: end,
      createdAt: isNear ? providerCreatedAt : own,
    })
  }
}

function isOpen({ state }: Row): boolean {
  return state === 'pending' || state === 'unknown'
}

function isPrunable({ state, facts }: Row): boolean {
  const { status } = facts?.transaction ?? {}
  const since = facts?.changedAt ?? facts?.reportedAt ?? 0
  return state === 'done' && (isEnd(status) || (status === 'overdue' && since <= Date.now() - 30 * day))
}

/** A final status stays, and an unknown word changes nothing. */
function renewed(before: TransactionRecord | undefined, facts: TransactionRecord): TransactionRecord {
  const old = before?.transaction.status
  const status = isEnd(old) ? old : (facts.transaction.status ?? old)
  const changedAt = isEnd(old) && facts.transaction.status !== old ? before?.changedAt : facts.changedAt
  return { ...facts, transaction: { ...facts.transaction, status }, changedAt }
}

/** A create's facts, with the status that was read later. */
function withLater(before: TransactionRecord | undefined, facts: TransactionRecord): TransactionRecord {
  const { sequence = 0, changedAt } = before ?? {}
  const { status } = before?.transaction ?? {}
  const isLater = sequence >= (facts.sequence ?? 0) && !isEnd(facts.transaction.status)
  const latest = { ...facts, sequence: Math.max(sequence, facts.sequence ?? 0) || undefined }
  if (!status || status === facts.transaction.status || !(isLater || isEnd(status))) return latest
  return { ...latest, transaction: { ...facts.transaction, status }, changedAt }
}

/** Recorded before the create was sent, and with a later status or another deposit address. */
function wasThereBefore(before: TransactionRecord | undefined, facts: TransactionRecord): boolean {
  const { status, depositAddress } = before?.transaction ?? {}
  const hasGoneOn = status !== undefined && status !== 'wait'
  return (before?.sequence ?? 0) < (facts.sequence ?? 0) && (hasGoneOn || depositAddress !== facts.transaction.depositAddress)
}

function entryOf({ owner, provider, facts, intent }: Row): LedgerEntry {
  return { ...(facts as TransactionRecord), owner, provider, isCreated: intent !== undefined }
}

function openOf({ intent, owner, provider, checkCount, nextCheckAt }: Row): UnresolvedCreate {
  const { id, requested, attemptedAt } = intent as Intent
  return { intent: id, owner, provider, requested, attemptedAt, checkCount, nextCheckAt }
}

function within({ createdAt = 0n }: Row, { first, last }: LedgerListQuery['created']): boolean {
  return createdAt >= first && createdAt <= last
}

function compare<T>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
