/** What accounts use, for a person (docs/contract.md §5). */
import { hourOf, toIso } from '../../domain/instant.ts'
import { snakeCase } from '../../domain/observation.ts'
import type { AccountUsage, UsageStore } from '../ports/usage.ts'

export interface UsageQuery {
  /** Name of an account; absent: all. */
  readonly account?: string | undefined
  /** Milliseconds since 1970, rounded down to the hour; absent: all that is known. */
  readonly since?: number | undefined
}

/** As JSON, for the command and the operator's API; undefined if no account has the name. */
export async function usageReport(store: UsageStore, { account, since }: UsageQuery) {
  const from = since === undefined ? undefined : hourOf(since)
  const accounts = await store.read(from, account)
  if (account !== undefined && accounts.length === 0) return undefined
  return { since: toIso(from), accounts: accounts.map(usageRow) }
}

export type UsageReport = NonNullable<Awaited<ReturnType<typeof usageReport>>>

/** Operations as in metrics and logs. */
function usageRow({ requests, ...usage }: AccountUsage) {
  return {
    ...usage,
    requests: Object.fromEntries(Object.entries(requests).map(([operation, counts]) => [snakeCase(operation), counts])),
  }
}
