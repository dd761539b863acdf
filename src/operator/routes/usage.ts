import { z } from 'zod'
import { usageReport } from '../../core/operations/usage.ts'
import { Fault } from '../../domain/fault.ts'
import { ok, type Route, route, since } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

export function usageRoutes({ stores: { usage } }: OperatorParts): readonly Route[] {
  return [
    route({
      method: 'get',
      path: '/api/usage',
      role: 'read',
      summary:
        'What accounts use, by name, since an hour: creates by outcome, swaps by status, sums of amounts in and out by code (`amounts` of `success`, `open` of what is under way), requests by operation and result. What the ledger has is exact; requests lack the last seconds of each process, and all but those of the last 400 days.',
      query: z.strictObject({ account: z.string().optional(), since: since.optional() }),
      async handle({ query }) {
        const report = await usageReport(usage, query)
        if (!report) throw new Fault('notFound', 'No account has this name.')
        return ok(report)
      },
    }),
  ]
}
