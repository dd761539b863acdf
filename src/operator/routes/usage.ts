import { z } from 'zod'
import { type UsageQuery, usageReport } from '../../core/operations/usage.ts'
import { Fault } from '../../domain/fault.ts'
import { hourOf } from '../../domain/instant.ts'
import { okRows, type Route, route, since } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

export function usageRoutes({ stores: { usage } }: OperatorParts): readonly Route[] {
  const reading = new Map<string, ReturnType<typeof usageReport>>()
  /** It may take seconds: a token that asks the same meanwhile gets the same. It is read in the turns of that token, for which no other one waits. */
  const reportOf = (actor: string, query: UsageQuery): ReturnType<typeof usageReport> => {
    const { account, since: at } = query
    const key = JSON.stringify([actor, account, at !== undefined && hourOf(at)])
    const report = reading.get(key) ?? usageReport(usage, query).finally(() => reading.delete(key))
    reading.set(key, report)
    return report
  }
  return [
    route({
      method: 'get',
      path: '/api/usage',
      summary:
        'What accounts use, by name, since an hour: creates by outcome, swaps by status, sums of amounts in and out by code (`amounts` of `success`, `open` of what is under way), requests by operation and result. What the ledger has is exact; requests lack the last seconds of each process, and all but those of the last 400 days.',
      query: z.strictObject({ account: z.string().optional(), since: since.optional() }),
      async handle({ query, actor }) {
        const report = await reportOf(actor, query)
        if (!report) throw new Fault('notFound', 'No account has this name.')
        return okRows(report.accounts, (account) => account, { ...report, accounts: [] })
      },
    }),
  ]
}
