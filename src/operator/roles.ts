/**
 * What a token may do in the operator's API, by its roles (docs/contract-operators.md §15). No role gets by a second request what it may not do.
 * What waits for its turn, or for the rest of its body, is refused once the token goes or loses the role.
 */
import type { RequestHandler } from 'express'
import type { AuditLog } from '../core/operations/audit.ts'
import { Fault } from '../domain/fault.ts'
import type { OperatorRole } from '../domain/operator-role.ts'
import { operationOf, rightOf } from './rights.ts'
import type { OperatorLocals, Route } from './route.ts'
import type { OperatorParts } from './stores.ts'

/** Between two records of one token at one route: whoever repeats what is refused fills no log. */
const recordIntervalMs = 60_000

/** Passes what the token may do, before body and query are checked. Everything else is 403, also while the ledger takes no record of it. */
export function requireRole(audit: Pick<AuditLog, 'append'>, file: OperatorParts['file']): (route: Route) => RequestHandler {
  const recordedAt = new Map<string, number>()
  return (route) => {
    const subject = operationOf(route)
    const right = rightOf(route)
    return async (request, response, next) => {
      const { actor, roles } = response.locals as OperatorLocals
      const needed = typeof right === 'function' ? right(request.body, file()) : right
      if (mayDo(roles, needed)) return next()
      const [key, now] = [`${actor} ${subject}`, performance.now()]
      if (now - (recordedAt.get(key) ?? Number.NEGATIVE_INFINITY) >= recordIntervalMs) {
        recordedAt.set(key, now)
        const record = { actor, action: 'role.refused' as const, subject, before: { roles }, after: { needed } }
        await audit.append(record).catch(() => recordedAt.delete(key))
      }
      throw new Fault('forbidden', `This needs the role ${needed}; the token of ${actor} has ${roles.join(', ')}.`, {
        reason: 'role',
      })
    }
  }
}

/** Whoever has a role may read. */
function mayDo(roles: readonly OperatorRole[], needed: OperatorRole): boolean {
  return needed === 'read' || roles.includes(needed)
}
