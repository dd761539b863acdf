/** Keeps in the ledger what was seen while nobody waits for it; what cannot be kept now is kept when it is seen again. */
import type { Entry, Facts } from './ledger.ts'
import type { Known, Recent } from './recent.ts'
import { keep, type Merged, type RecordOptions } from './record.ts'
import type { Sighting } from './sighting.ts'

interface Seen {
  readonly owner: string
  readonly sighting: Sighting
  readonly merged: Merged
}

/** A list brings many at once; the ledger has other work. */
const atOnce = 4
/** A bound on memory: what is beyond is kept when it is seen again. */
const maxWaiting = 10_000

/** One write at a time for each transaction: of what is seen meanwhile the latest follows. What a get has seen goes first. */
export class WriteBehind {
  private readonly looked: Recent
  private readonly options: RecordOptions
  private readonly urgent = new Map<Known, Seen>()
  private readonly waiting = new Map<Known, Seen>()
  private readonly writing = new Set<Known>()

  constructor(looked: Recent, options: RecordOptions) {
    this.looked = looked
    this.options = options
  }

  /** False where the ledger has it already. */
  write(known: Known, seen: Seen): boolean {
    if (!known.isWriting && !isNews(known, seen.merged.facts)) return false
    const queue = seen.sighting.isWhole || this.urgent.has(known) ? this.urgent : this.waiting
    if (queue.size >= maxWaiting) return false
    this.waiting.delete(known)
    queue.set(known, seen)
    known.isWriting = true
    if (this.writing.size < atOnce) void this.run()
    return true
  }

  private async run(): Promise<void> {
    for (let next = this.next(); next; next = this.next()) {
      const [known, seen] = next
      this.writing.add(known)
      await this.writeOne(known, seen)
      this.writing.delete(known)
      known.isWriting = this.urgent.has(known) || this.waiting.has(known)
    }
  }

  private next(): readonly [Known, Seen] | undefined {
    for (const queue of [this.urgent, this.waiting]) {
      for (const [known, seen] of queue) {
        if (this.writing.has(known)) continue
        queue.delete(known)
        return [known, seen]
      }
    }
    return undefined
  }

  private async writeOne(known: Known, { owner, sighting, merged }: Seen): Promise<void> {
    if (!isNews(known, merged.facts)) return
    const options = { ...this.options, ledger: this.looked }
    await keep(owner, sighting, { merged, stored: known.stored }, options).catch(() => {})
  }
}

function isNews({ stored, noted, isForeign }: Known, { transaction, readAt }: Facts): boolean {
  const before: Entry | undefined = stored ?? (isForeign ? noted : undefined)
  if (!before || (before.readAt === undefined && readAt !== undefined)) return true
  const { status, amountOut, depositAddress } = before.transaction
  return status !== transaction.status || amountOut !== transaction.amountOut || depositAddress !== transaction.depositAddress
}
