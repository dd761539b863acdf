/** Keeps in the ledger what was seen while nobody waits for it; what cannot be kept now is kept when it is seen again. */
import type { Entry, Facts } from './ledger.ts'
import type { Known, Recent } from './recent.ts'
import { keep, type Merged, type RecordOptions } from './record.ts'
import type { Sighting } from './sighting.ts'

interface Seen {
  readonly sighting: Sighting
  readonly merged: Merged
}

type WriteBehind = (owner: string, known: Known, seen: Seen) => void

/** One write at a time for each transaction; of what is seen meanwhile the latest follows. */
export function writeBehind(looked: Recent, options: RecordOptions): WriteBehind {
  const waiting = new WeakMap<Known, Seen>()
  const write: WriteBehind = async (owner, known, seen) => {
    if (known.isWriting) return void waiting.set(known, seen)
    if (!isNews(known, seen.merged.facts)) return
    known.isWriting = true
    const { merged, sighting } = seen
    const isKept = await keep(owner, sighting, { merged, stored: known.stored }, { ...options, ledger: looked }).then(
      () => true,
      () => false,
    )
    known.isWriting = false
    const next = waiting.get(known)
    waiting.delete(known)
    if (next && isKept) write(owner, known, next)
  }
  return write
}

function isNews({ stored, noted, isForeign }: Known, { transaction, readAt }: Facts): boolean {
  const before: Entry | undefined = stored ?? (isForeign ? noted : undefined)
  if (!before || (before.readAt === undefined && readAt !== undefined)) return true
  const { status, amountOut, depositAddress } = before.transaction
  return status !== transaction.status || amountOut !== transaction.amountOut || depositAddress !== transaction.depositAddress
}
