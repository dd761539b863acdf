import type { Observer } from '../domain/observation.ts'
import type { OnTrouble } from '../domain/store-trouble.ts'

/** The same line is not repeated for so long. */
const quietMs = 60_000

/** Reports each failure of a store, or of the way to it: a line when it is new, and then once a minute. */
export function reportTrouble(store: 'ledger' | 'redis', observe: Observer): OnTrouble {
  let last: { readonly message: string; readonly at: number } | undefined
  return ({ cause, message }) => {
    const now = performance.now()
    const isNew = last?.message !== message || now - last.at >= quietMs
    if (isNew) last = { message, at: now }
    observe({ what: 'storeTrouble', store, cause, message, isNew })
  }
}
