import { z } from 'zod'
import { toIso } from '../../cli/timestamp.ts'
import { ok, type Route, route } from '../route.ts'
import type { OperatorParts } from '../stores.ts'
import { since } from '../values.ts'

const maxRecords = 1_000

export function auditRoutes({ stores }: OperatorParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/audit',
      summary: `Changes by hand, newest first, at most ${maxRecords}.`,
      query: z.strictObject({ since: since.optional() }),
      async handle({ query }) {
        const records = await stores.audit.read({ since: query.since, maxRecords })
        return ok(records.map(({ at, before = null, after = null, ...record }) => ({ ...record, at: toIso(at), before, after })))
      },
    }),
  ]
}
