/** node:async_hooks: the spans for which work is done now, for the clients of stores: no request is passed on to them. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Fault } from './fault.ts'
import type { Attributes, Span } from './trace.ts'

const current = new AsyncLocalStorage<readonly Span[]>()
const none: readonly Span[] = []

/** Several, if one call is made for several requests. */
export function withSpans<T>(spans: readonly Span[], work: () => T): T {
  return current.run(spans, work)
}

export function currentSpans(): readonly Span[] {
  return current.getStore() ?? none
}

/** A client span for each of them, for the time of one call to a store. */
export function inClientSpans<T>(
  parents: readonly Span[],
  describe: () => { readonly name: string; readonly attributes: Attributes },
  work: () => Promise<T>,
): Promise<T> {
  if (parents.length === 0) return work()
  const { name, attributes } = describe()
  const ofBatch = parents.length > 1 ? { ...attributes, 'db.operation.batch.size': parents.length } : attributes
  const spans = parents.map((parent) => parent.begin(name, ofBatch, 'client'))
  const end = (fault?: Fault): void => {
    for (const span of spans) span.end(fault)
  }
  const result = work()
  result.then(
    () => end(),
    (cause) => end(new Fault('unavailable', 'The store has not done it.', { cause, reason: 'ledger_unavailable', retryAfter: 1 })),
  )
  return result
}
