import { z } from 'zod'
import { hashKey } from '../../adapters/crypto.ts'
import { auditRow } from '../../core/operations/audit.ts'
import { toDuration } from '../../core/operations/duration.ts'
import { accountNameRule, accountRows, issueKey, keyRow, newKeyRow, toAccountName } from '../../core/operations/keys.ts'
import { Fault } from '../../domain/fault.ts'
import { ok, type Route, route, since } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

const name = z.string().transform((text, context): string => {
  const accountName = toAccountName(text)
  if (accountName !== undefined) return accountName
  context.issues.push({ code: 'custom', message: `must be ${accountNameRule}`, input: text })
  return z.NEVER
})
const lifetime = z.string().transform((text, context): number => {
  const duration = toDuration(text)
  if (duration) return duration
  context.issues.push({ code: 'custom', message: 'must be above 0, like 30m, 24h or 90d', input: text })
  return z.NEVER
})

export function keyRoutes({ stores: { accounts } }: OperatorParts): readonly Route[] {
  const list = async () => (await accounts.listKeys()).map((key) => keyRow(key, Date.now()))
  return [
    route({
      method: 'get',
      path: '/api/keys',
      summary: 'All keys, the oldest first, without the keys themselves.',
      handle: async () => ok(await list()),
    }),
    route({
      method: 'post',
      path: '/api/keys',
      summary: 'Issues a key to an account, which is made if its name is new. The key is shown this once.',
      body: z.strictObject({ name, expires: lifetime.optional() }),
      async handle({ body, actor }) {
        return { status: 201, body: newKeyRow(await issueKey({ accounts, digest: hashKey, actor }, body.name, body.expires)) }
      },
    }),
    route({
      method: 'delete',
      path: '/api/keys/:id',
      summary: 'Ends a key now, for good.',
      async handle({ parameter, actor }) {
        if (!(await accounts.revokeKey(parameter, Date.now(), actor)))
          throw new Fault('notFound', 'No key has this id, or it was revoked before.')
        return ok((await list()).find(({ id }) => id === parameter))
      },
    }),
    route({
      method: 'get',
      path: '/api/accounts',
      summary: 'The accounts that have keys, by name, with how many of these are valid.',
      handle: async () => ok(accountRows(await accounts.listKeys(), Date.now())),
    }),
  ]
}

const maxRecords = 1_000

export function auditRoutes({ stores }: OperatorParts): readonly Route[] {
  return [
    route({
      method: 'get',
      path: '/api/audit',
      summary: `Changes by hand, newest first, at most ${maxRecords}.`,
      query: z.strictObject({ since: since.optional() }),
      async handle({ query }) {
        const records = await stores.audit.read({ since: query.since, maxRecords })
        return ok(records.map(auditRow))
      },
    }),
  ]
}
