import type { Observer } from '../domain/observation.ts'
import type { OnTrouble } from '../domain/store-trouble.ts'

/** The same line is not repeated for so long. */
const quietMs = 60_000
/** Lines in that time: a part of them are words of a stranger, which may differ each time. */
const maxLines = 10

/** Reports each failure of a store, or of the way to it: a line when it is new, and then once a minute. */
export function reportTrouble(store: 'ledger' | 'redis', observe: Observer): OnTrouble {
  const toldAt = new Map<string, number>()
  return ({ cause, message }) => {
    const now = performance.now()
    for (const [line, at] of toldAt) if (now - at >= quietMs) toldAt.delete(line)
    const isNew = !toldAt.has(message) && toldAt.size < maxLines
    if (isNew) toldAt.set(message, now)
    observe({ what: 'storeTrouble', store, cause, message, isNew })
  }
}
