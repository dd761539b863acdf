import { z } from 'zod'
import { asJson, newKey } from '../../cli/keys.ts'
import { toDuration, toIso } from '../../cli/values.ts'
import { Fault } from '../../domain/fault.ts'
import { ok, type Route, route, since } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

const name = z.string().regex(/^(?! )[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}(?<! )$/u, 'must be 1 to 64 printable characters')
const lifetime = z.string().transform((text, context): number => {
  const duration = toDuration(text)
  if (duration) return duration
  context.issues.push({ code: 'custom', message: 'must be above 0, like 30m, 24h or 90d', input: text })
  return z.NEVER
})

export function keyRoutes({ stores: { accounts } }: OperatorParts): readonly Route[] {
  const list = async () => (await accounts.listKeys()).map((key) => asJson(key, Date.now()))
  return [
    route({
      method: 'GET',
      path: '/keys',
      summary: 'All keys, the oldest first, without the keys themselves.',
      handle: async () => ok(await list()),
    }),
    route({
      method: 'POST',
      path: '/keys',
      summary: 'Issues a key to an account, which is made if its name is new. The key is shown this once.',
      body: z.strictObject({ name, expires: lifetime.optional() }),
      async handle({ body, actor }) {
        const { key, digest, issued } = newKey(body.expires)
        await accounts.addKey({ ...issued, name: body.name.normalize() }, digest, actor)
        return { status: 201, body: { id: issued.id, name: body.name.normalize(), key, expiresAt: toIso(issued.expiresAt) } }
      },
    }),
    route({
      method: 'DELETE',
      path: '/keys/{id}',
      summary: 'Ends a key now, for good.',
      async handle({ parameter, actor }) {
        if (!(await accounts.revokeKey(parameter, Date.now(), actor)))
          throw new Fault('notFound', 'No key has this id, or it was revoked before.')
        return ok((await list()).find(({ id }) => id === parameter))
      },
    }),
    route({
      method: 'GET',
      path: '/accounts',
      summary: 'The accounts that have keys, by name, with how many of these are valid.',
      async handle() {
        const byName = Map.groupBy(await list(), (key) => key.name)
        const rows = [...byName].map(([account, keys]) => ({
          name: account,
          keys: keys.length,
          validKeys: keys.filter(({ state }) => state === 'active').length,
          createdAt: keys[0]?.createdAt ?? null,
        }))
        return ok(rows.toSorted((one, other) => (one.name < other.name ? -1 : 1)))
      },
    }),
  ]
}

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
