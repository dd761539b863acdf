import { z } from 'zod'
import { resolveCreate } from '../../cli/ledger/resolve.ts'
import { unresolvedPage } from '../../cli/ledger/unresolved.ts'
import { Fault } from '../../domain/fault.ts'
import { ok, type Route, route } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

/** Between two notes of one actor's reads. */
const noteIntervalMs = 60_000
/** `<milliseconds since 1970>~<intent>` of the last create of a page. */
const cursor = z
  .string()
  .max(320)
  .regex(/^\d{1,15}~./, 'must be of the Link of a page')
  .transform((text) => ({ attemptedAt: Number.parseInt(text, 10), intent: text.slice(text.indexOf('~') + 1) }))
const id = z.string().min(1).max(300)

export function unresolvedRoutes({ stores, inForce }: OperatorParts): readonly Route[] {
  const notedAt = new Map<string, number>()
  return [
    route({
      method: 'GET',
      path: '/unresolved',
      summary:
        'Creates of unknown outcome, creates that a provider contradicted, and transactions that it reports as failed or held; each the oldest first; of more than 1,000 creates `Link` has the next page. That they were read is in the audit log, once a minute.',
      query: z.strictObject({ after: cursor.optional() }),
      async handle({ actor, query }) {
        const { rows, next } = await unresolvedPage(stores, query.after)
        // The requests of creates have whole addresses. A page that follows them would fill the audit log.
        const isNoted = Date.now() - (notedAt.get(actor) ?? 0) < noteIntervalMs
        if (rows.length > 0 && !isNoted) {
          await stores.audit.append({ actor, action: 'unresolved.read', subject: String(rows.length) })
          notedAt.set(actor, Date.now())
        }
        return next
          ? { ...ok(rows), next: `/api/unresolved?after=${next.attemptedAt}~${encodeURIComponent(next.intent)}` }
          : ok(rows)
      },
    }),
    route({
      method: 'POST',
      path: '/unresolved/{intent}',
      summary:
        'Settles such a create: it is the transaction `bind`, which is read at the provider first, there is `none`, or `accept`: the response that contradicted the request counts. 409 while it may still run.',
      body: z.union(
        [
          z.strictObject({ bind: id, force: z.boolean().default(false) }),
          z.strictObject({ none: z.literal(true) }),
          z.strictObject({ accept: z.literal(true) }),
        ],
        'must be {"bind": "<id>"}, {"none": true} or {"accept": true}',
      ),
      async handle({ parameter, body, actor }) {
        const { id: bound, isForced } =
          'bind' in body ? { id: body.bind, isForced: body.force } : { id: undefined, isForced: false }
        const request = { id: bound, isForced, isAccepted: 'accept' in body }
        const result = await resolveCreate(parameter, request, { config: inForce(), stores, actor })
        if (result.outcome === 'done') return ok({ intent: parameter, messages: result.messages })
        const message = `${result.message[0]?.toUpperCase()}${result.message.slice(1)}.`
        if (result.outcome === 'missing') throw new Fault('notFound', message)
        throw new Fault('inProgress', message, { reason: result.outcome === 'running' ? 'in_progress' : 'refused' })
      },
    }),
  ]
}
