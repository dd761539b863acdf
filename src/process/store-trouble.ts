import type { Observer } from '../domain/observation.ts'

/** The same line is not repeated for so long. */
const quietMs = 60_000

/** Reports what is wrong with a store, or with the way to it: a line when it is new, and then once a minute. */
export function reportTrouble(store: 'ledger' | 'redis', observe: Observer): (message: string) => void {
  let last: { readonly message: string; readonly at: number } | undefined
  return (message) => {
    const now = performance.now()
    if (last?.message === message && now - last.at < quietMs) return
    last = { message, at: now }
    observe({ what: 'storeTrouble', store, message })
  }
}
