import { z } from 'zod'
import { hashKey } from '../../adapters/crypto.ts'
import { auditRow } from '../../core/operations/audit.ts'
import { durations, toDuration } from '../../core/operations/duration.ts'
import {
  accountRow,
  issueKey,
  keyRow,
  limitRule,
  maxLimit,
  networksRule,
  newAccountNameRule,
  newKeyRow,
  noOwnLimits,
  rotateKey,
  toNetworks,
  toNewAccountName,
} from '../../core/operations/keys.ts'
import { Fault } from '../../domain/fault.ts'
import { toIso } from '../../domain/instant.ts'
import { keyScopes } from '../../domain/key-access.ts'
import { ok, okRows, type Route, route, since } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

const name = z.string().transform((text, context): string => {
  const accountName = toNewAccountName(text)
  if (accountName !== undefined) return accountName
  context.issues.push({ code: 'custom', message: `must be ${newAccountNameRule}`, input: text })
  return z.NEVER
})
const lifetime = z.string().transform((text, context): number => {
  const duration = toDuration(text)
  if (duration) return duration
  context.issues.push({ code: 'custom', message: 'must be above 0, like 30m, 24h or 90d', input: text })
  return z.NEVER
})

const overlap = z.string().transform((text, context): number => {
  const duration = toDuration(text)
  if (duration !== undefined) return duration
  context.issues.push({ code: 'custom', message: `must be ${durations}`, input: text })
  return z.NEVER
})

const scope = z.array(z.enum(keyScopes)).min(1)
const networks = z
  .array(z.string())
  .min(1)
  .transform((texts, context): readonly string[] => {
    const parsed = toNetworks(texts.join(','))
    if (parsed) return parsed
    context.issues.push({ code: 'custom', message: `must be ${networksRule}`, input: texts })
    return z.NEVER
  })
const limit = z.int().min(1, `must be ${limitRule}, or null`).max(maxLimit, `must be ${limitRule}, or null`).nullable().optional()
const limits = z.strictObject({ quotes: limit, create: limit, read: limit, streams: limit })

export function keyRoutes({ stores: { accounts } }: OperatorParts): readonly Route[] {
  const accountNamed = async (text: string) => {
    const [found] = await accounts.listAccounts(Date.now(), text)
    if (!found) throw new Fault('notFound', 'No account has this name.')
    return accountRow(found)
  }
  return [
    route({
      method: 'get',
      path: '/api/keys',
      summary: 'All keys, the oldest first, without the keys themselves.',
      handle: async () => okRows(await accounts.listKeys(), (key) => keyRow(key, Date.now())),
    }),
    route({
      method: 'post',
      path: '/api/keys',
      summary: 'Issues a key to an account, which is made if its name is new. The key is shown this once.',
      body: z.strictObject({ name, scope: scope.optional(), networks: networks.optional(), expires: lifetime.optional() }),
      async handle({ body, actor }) {
        const settings = { lifetimeMs: body.expires, scope: body.scope, networks: body.networks }
        return { status: 201, body: newKeyRow(await issueKey({ accounts, digest: hashKey, actor }, body.name, settings)) }
      },
    }),
    route({
      method: 'delete',
      path: '/api/keys/:id',
      summary: 'Ends a key now, for good.',
      async handle({ parameter, actor }) {
        const isRevoked = await accounts.revokeKey(parameter, Date.now(), actor)
        const revoked = isRevoked ? await accounts.readKey(parameter) : undefined
        if (!revoked) throw new Fault('notFound', 'No key has this id, or it was revoked before.')
        return ok(keyRow(revoked, Date.now()))
      },
    }),
    route({
      method: 'post',
      path: '/api/keys/:id/rotate',
      summary:
        'Issues another key to the account of a valid key, with its scope and networks; it is shown this once. The old one ends after `overlap` (24h), at `oldExpiresAt`.',
      body: z.strictObject({ overlap: overlap.optional() }).default({}),
      async handle({ parameter, body, actor }) {
        const rotated = await rotateKey({ accounts, digest: hashKey, actor }, parameter, { overlapMs: body.overlap })
        if (!rotated) throw new Fault('notFound', 'No valid key has this id.')
        return { status: 201, body: { ...newKeyRow(rotated.issued), oldExpiresAt: toIso(rotated.oldExpiresAt) } }
      },
    }),
    route({
      method: 'get',
      path: '/api/accounts',
      summary: 'The accounts, by name, with how many of their keys are valid, and their limits: null is as configured.',
      handle: async () => okRows(await accounts.listAccounts(Date.now()), accountRow),
    }),
    route({
      method: 'post',
      path: '/api/accounts',
      summary: 'Makes an account, or gives one limits of its own. What is null, or absent in a new one, is as configured.',
      body: z.strictObject({ name, limits: limits.default({}) }),
      async handle({ body, actor }) {
        await accounts.changeLimits(body.name, body.limits, Date.now(), actor)
        return { status: 201, body: await accountNamed(body.name) }
      },
    }),
    route({
      method: 'get',
      path: '/api/accounts/:name',
      summary: 'One account.',
      handle: async ({ parameter }) => ok(await accountNamed(parameter)),
    }),
    route({
      method: 'patch',
      path: '/api/accounts/:name',
      summary: 'Changes limits of an account: null sets one back to the configured one, what is absent stays.',
      body: z.strictObject({ limits }),
      async handle({ parameter, body, actor }) {
        const { name: known } = await accountNamed(parameter)
        await accounts.changeLimits(known, body.limits, Date.now(), actor)
        return ok(await accountNamed(known))
      },
    }),
    route({
      method: 'delete',
      path: '/api/accounts/:name/limits',
      summary: 'Takes the limits of an account back: those of the configuration hold again.',
      async handle({ parameter, actor }) {
        const { name: known } = await accountNamed(parameter)
        await accounts.changeLimits(known, noOwnLimits, Date.now(), actor)
        return ok(await accountNamed(known))
      },
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
        return okRows(records, auditRow)
      },
    }),
  ]
}
