import { z } from 'zod'
import { assignOrder, dismissOrder, type OrderResult, orderRow, unassignOrder } from '../../core/operations/restore.ts'
import { noteRule, toNote } from '../../core/operations/settle.ts'
import { shortAddresses } from '../../core/operations/transaction-row.ts'
import { Fault } from '../../domain/fault.ts'
import { assignPorts } from '../../process/ask-providers.ts'
import { NotedReads } from '../noted-reads.ts'
import { ok, type Route, refused, route, sentence } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

const maxAssigned = 1_000
const note = z.string().refine((text) => toNote(text) !== undefined, `must be ${noteRule}`)

/** Orders that a restored ledger lacked (docs/contract.md §10.6). */
export function foundRoutes({ stores, inForce }: OperatorParts): readonly Route[] {
  const { restores, audit } = stores
  const reads = new NotedReads(audit, 'order.read')
  return [
    route({
      method: 'get',
      path: '/api/found',
      summary:
        'The orders that `swapgate ledger rebuild` has found after a restore and that wait for a person, the oldest first; with `assigned` those that are assigned to an account, the last one first; addresses are whole for the role `money`. That they were read is in the audit log, once a minute.',
      query: z.strictObject({ assigned: z.enum(['true', 'false']).default('false') }),
      async handle({ query: { assigned }, actor, roles }) {
        const orders = assigned === 'true' ? await restores.assigned(maxAssigned) : await restores.undecided()
        await reads.note(actor, orders.length)
        const rows = orders.map(orderRow)
        return ok(roles.includes('money') ? rows : rows.map((row) => ({ ...row, ...shortAddresses(row) })))
      },
    }),
    route({
      method: 'post',
      path: '/api/found/:id',
      summary:
        'Decides about such an order: `assign` makes it a swap of `account`, by default the one that its reference names; `dismiss` says that it is no swap of a client; `unassign` takes it back from an account, and it waits again: 409 if its swap is the result of an `Idempotency-Key`, if something was asked for it, or if a person has recorded its outcome.',
      body: z.union(
        [
          z.strictObject({ assign: z.literal(true), account: z.string().optional(), note }),
          z.strictObject({ dismiss: z.literal(true), note }),
          z.strictObject({ unassign: z.literal(true), note }),
        ],
        'must be {"assign": true}, {"dismiss": true} or {"unassign": true}, with a "note"',
      ),
      async handle({ parameter, body, actor }) {
        if ('dismiss' in body) return answer(parameter, 'dismissed', await dismissOrder(parameter, body.note, restores, actor))
        if ('unassign' in body) return answer(parameter, 'unassigned', await unassignOrder(parameter, body.note, restores, actor))
        await using open = new AsyncDisposableStack()
        const ports = assignPorts(inForce(), stores, actor, open)
        return answer(parameter, 'assigned', await assignOrder(parameter, body, ports))
      },
    }),
  ]
}

function answer(id: string, decision: 'assigned' | 'dismissed' | 'unassigned', result: OrderResult) {
  if (result.outcome === 'done') return ok({ id, decision, account: result.account === '' ? null : result.account })
  if (result.outcome === 'missing') throw new Fault('notFound', sentence(result.message))
  throw refused(result.message)
}
