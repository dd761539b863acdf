/** Which role each route of the operator's API needs: the table of docs/contract-operators.md §15. */
import type { Config } from '../config/index.ts'
import type { OperatorRole } from '../domain/operator-role.ts'
import type { Route } from './route.ts'

/** By the body, which is not checked yet, where that decides. `file`: the configuration file. */
type Right = OperatorRole | ((body: unknown, file: Config) => OperatorRole)

const rights: Readonly<Record<string, Right>> = {
  'GET /api/accounts': 'read',
  'POST /api/accounts': roleToLimit,
  'GET /api/accounts/:name': 'read',
  'PATCH /api/accounts/:name': roleToLimit,
  'DELETE /api/accounts/:name/limits': 'operate',
  'GET /api/audit': 'read',
  'GET /api/configuration': 'read',
  'POST /api/deliveries/:id/replay': 'operate',
  'GET /api/events': 'read',
  'GET /api/find': 'read',
  'GET /api/first-steps': 'read',
  'GET /api/found': 'read',
  'POST /api/found/:id': 'money',
  'POST /api/found-keys': 'money',
  'GET /api/health': 'read',
  'GET /api/keys': 'read',
  'POST /api/keys': roleToIssue,
  'DELETE /api/keys/:id': 'operate',
  'POST /api/keys/:id/rotate': 'money',
  'GET /api/openapi.json': 'read',
  'DELETE /api/overrides': 'operate',
  'DELETE /api/overrides/:name': 'operate',
  'GET /api/providers': 'read',
  'GET /api/providers/:name': 'read',
  'PATCH /api/providers/:name': 'operate',
  'GET /api/routing': 'read',
  'PATCH /api/routing': 'operate',
  'POST /api/settlements': 'money',
  'POST /api/settlements/:confirm': 'money',
  'GET /api/token': 'read',
  'GET /api/transactions': 'read',
  'GET /api/transactions/:id': 'money',
  'POST /api/transactions/:id': 'money',
  'POST /api/transactions/:id/continue': 'money',
  'POST /api/transactions/:id/read': 'operate',
  'POST /api/transactions/:id/refund': 'money',
  'POST /api/transactions/:id/refund-address': 'money',
  'GET /api/transactions/:id/timeline': 'read',
  'GET /api/unresolved': 'read',
  'POST /api/unresolved/:intent': 'money',
  'GET /api/usage': 'read',
  'GET /api/webhooks': 'read',
  'POST /api/webhooks': 'money',
  'GET /api/webhooks/:id': 'read',
  'DELETE /api/webhooks/:id': 'money',
  'GET /api/webhooks/:id/deliveries': 'read',
  'POST /api/webhooks/:id/rotate': 'money',
  'POST /api/webhooks/:id/test': 'operate',
}

/** Method and path, as the table has them. */
export function operationOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method.toUpperCase()} ${path}`
}

/** Throws for a route that the table lacks: nothing is open because somebody forgot it. */
export function rightOf(route: Pick<Route, 'method' | 'path'>): Right {
  const right = rights[operationOf(route)]
  if (right === undefined) throw new Error(`The table of rights lacks ${operationOf(route)}.`)
  return right
}

/** The roles of which a request may need one. */
export function possibleRoles(route: Pick<Route, 'method' | 'path'>): readonly OperatorRole[] {
  const right = rightOf(route)
  return typeof right === 'function' ? ['operate', 'money'] : [right]
}

/** A key that only quotes shows nothing and moves nothing. Whoever has another one reads whole addresses, or creates. */
function roleToIssue(body: unknown): OperatorRole {
  const scope = memberOf(body, 'scope')
  return Array.isArray(scope) && scope.length > 0 && scope.every((word) => word === 'quote') ? 'operate' : 'money'
}

/** A limit above that of the file lets an account have more than its operator has planned for. */
function roleToLimit(body: unknown, { limits }: Config): OperatorRole {
  const wanted = Object.entries(limits).map(([name, limit]) => [memberOf(memberOf(body, 'limits'), name), limit] as const)
  return wanted.every(([value, limit]) => value === undefined || value === null || Number(value) <= Number(limit))
    ? 'operate'
    : 'money'
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}
