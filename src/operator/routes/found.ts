import { z } from 'zod'
import {
  assignOrder,
  dismissOrder,
  freeKey,
  type OrderResult,
  orderRow,
  unassignOrder,
  undismissOrder,
} from '../../core/operations/restore.ts'
import { noteRule, toNote } from '../../core/operations/settle.ts'
import { shortAddresses } from '../../core/operations/transaction-row.ts'
import { Fault } from '../../domain/fault.ts'
import { assignPorts } from '../../process/ask-providers.ts'
import { NotedReads } from '../noted-reads.ts'
import { despite, ok, okRows, type Route, refused, route, sentence } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

const maxAssigned = 1_000
const note = z.string().refine((text) => toNote(text) !== undefined, `must be ${noteRule}`)

/** Orders that a restored ledger lacked (docs/contract-operators.md §10.6). */
export function foundRoutes({ stores, inForce }: OperatorParts): readonly Route[] {
  const { restores, audit } = stores
  const reads = new NotedReads(audit, 'order.read')
  return [
    route({
      method: 'get',
      path: '/api/found',
      summary:
        'The orders that `swapgate ledger rebuild` has found after a restore and that wait for a person, the oldest first; each with the creates that wait for it; with `assigned` those that are assigned to an account, with `dismissed` those that belong to no client, the last one first; addresses are whole for the role `money`. That they were read is in the audit log, once a minute.',
      query: z.strictObject({
        assigned: z.enum(['true', 'false']).default('false'),
        dismissed: z.enum(['true', 'false']).default('false'),
      }),
      async handle({ query: { assigned, dismissed }, actor, roles }) {
        const decided = dismissed === 'true' ? restores.dismissed : restores.assigned
        const orders = assigned === 'true' || dismissed === 'true' ? await decided(maxAssigned) : await restores.undecided()
        await reads.note(actor, orders.length)
        if (roles.includes('money')) return okRows<Parameters<typeof orderRow>[0]>(orders, orderRow)
        return okRows<Parameters<typeof orderRow>[0]>(orders, (order) => {
          const row = orderRow(order)
          return { ...row, ...shortAddresses(row) }
        })
      },
    }),
    route({
      method: 'post',
      path: '/api/found/:id',
      summary:
        'Decides about such an order: `assign` makes it a swap of `account`, by default the one that its reference names, and the result of its create with `key`, null where none is known, with `withdrawalAddress` as the client names it, or `unconfirmed`: 409 with each contradiction by name, which `despite` overrides; `dismiss` says that it is no swap of a client; `unassign` takes it back from an account, `undismiss` takes a dismissal back, and it waits again: 409 if something was asked for its swap, or if a person has recorded its outcome. `notes` says what nobody has confirmed, which creates are new ones from then on, and which key waits.',
      body: z.union(
        [
          z.strictObject({
            assign: z.literal(true),
            account: z.string().optional(),
            key: z.string().nullable(),
            withdrawalAddress: z.string().min(1).max(300).optional(),
            unconfirmed: z.literal(true).optional(),
            despite: despite.optional(),
            note,
          }),
          z.strictObject({ dismiss: z.literal(true), note }),
          z.strictObject({ unassign: z.literal(true), note }),
          z.strictObject({ undismiss: z.literal(true), note }),
        ],
        'must be {"assign": true, "key": …}, {"dismiss": true}, {"unassign": true} or {"undismiss": true}, with a "note"',
      ),
      async handle({ parameter, body, actor }) {
        if ('dismiss' in body) return answer(parameter, 'dismissed', await dismissOrder(parameter, body.note, restores, actor))
        if ('unassign' in body) return answer(parameter, 'unassigned', await unassignOrder(parameter, body.note, restores, actor))
        if ('undismiss' in body)
          return answer(parameter, 'undismissed', await undismissOrder(parameter, body.note, restores, actor))
        await using open = new AsyncDisposableStack()
        const ports = assignPorts(inForce(), stores, actor, open)
        return answer(parameter, 'assigned', await assignOrder(parameter, body, ports))
      },
    }),
    route({
      method: 'post',
      path: '/api/found-keys',
      summary:
        'Frees an `Idempotency-Key` that returned an order until that was taken back from its account: its next create is a new one. `notes` says whether a response to it had shown the deposit address of the order.',
      body: z.strictObject({ free: z.string(), account: z.string(), note }),
      async handle({ body, actor }) {
        return answer(body.free, 'freed', await freeKey(body.account, body.free, body.note, restores, actor))
      },
    }),
  ]
}

type Decision = 'assigned' | 'dismissed' | 'unassigned' | 'undismissed' | 'freed'

function answer(id: string, decision: Decision, result: OrderResult) {
  if (result.outcome === 'done') return ok({ id, decision, account: result.account ?? null, notes: result.notes })
  if (result.outcome === 'missing') throw new Fault('notFound', sentence(result.message))
  throw refused(result.message)
}
