/** The operator's API: what a person may read and change over HTTP, as the commands do (docs/contract-operators.md §15). */

import { z } from 'zod'
import { hashKey } from '../adapters/crypto.ts'
import { comparable } from '../process/config-diff.ts'
import { version } from '../process/version.ts'
import { possibleRoles } from './rights.ts'
import { ok, type Route, route } from './route.ts'
import { firstStepsRoute } from './routes/first-steps.ts'
import { foundRoutes } from './routes/found.ts'
import { healthRoute } from './routes/health.ts'
import { auditRoutes, keyRoutes } from './routes/keys.ts'
import { providerRoutes } from './routes/providers.ts'
import { settlementRoutes, transactionRoutes, unresolvedRoutes } from './routes/transactions.ts'
import { usageRoutes } from './routes/usage.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { type OperatorParts, withLedgerFaults } from './stores.ts'

/** With the description of them all. `events`: the route of their stream. */
export function apiRoutes({ stores, ...others }: OperatorParts, events: Route): readonly Route[] {
  const parts = { ...others, stores: withLedgerFaults(stores) }
  const description = route({
    method: 'get',
    path: '/api/openapi.json',
    summary: 'This description.',
    handle: async () => ok(describeApi(routes)),
  })
  const token = route({
    method: 'get',
    path: '/api/token',
    summary: 'The name and the roles of the token of this request, and whether the page may keep it over a reload.',
    handle: async ({ actor, roles }) =>
      ok({ name: actor, roles, mayKeep: !roles.includes('money') || others.file().admin.keepSession }),
  })
  const salt = crypto.randomUUID()
  const configuration = route({
    method: 'get',
    path: '/api/configuration',
    summary: 'The settings in the file that is in force, for `swapgate check --diff`: of a secret there is a digest of 20 bits.',
    handle: async () => ok(comparable(others.file(), salt, hashKey, others.started)),
  })
  const routes: readonly Route[] = [
    healthRoute(parts),
    firstStepsRoute(parts),
    ...providerRoutes(parts),
    ...unresolvedRoutes(parts),
    ...settlementRoutes(parts),
    ...foundRoutes(parts),
    ...transactionRoutes(parts),
    ...keyRoutes(parts),
    ...webhookRoutes(parts),
    ...usageRoutes(parts),
    ...auditRoutes(parts),
    token,
    configuration,
    events,
    description,
  ]
  return routes
}

// Describes the operator's API in OpenAPI 3.1, from its routes.

function describeApi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const one of routes) {
    const path = one.path.replace(/:(\w+)/, '{$1}')
    paths[path] = { ...paths[path], [one.method]: described(one) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'swapgate for operators', version, description: 'On the admin port. Errors have the body of `defaultForm`.' },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token of `admin.tokens`.' } } },
    security: [{ token: [] }],
    paths,
  }
}

function described(route: Route): object {
  const { path, summary, query, body, takesForce = false } = route
  const [, parameter] = /:(\w+)/.exec(path) ?? []
  const inPath = parameter === undefined ? [] : [{ name: parameter, in: 'path', required: true, schema: { type: 'string' } }]
  const inQuery = Object.keys(query?.shape ?? {}).map((name) => ({ name, in: 'query', schema: { type: 'string' } }))
  return {
    operationId: operationIdOf(route),
    summary,
    security: possibleRoles(route).map((role) => ({ token: [role] })),
    ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(body && {
      requestBody: { required: true, content: jsonContent(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })) },
    }),
    responses: {
      200: { description: 'Done' },
      400: { description: 'Invalid' },
      401: { description: 'No valid token' },
      403: { description: 'Beyond the roles of the token' },
      404: { description: 'Not there' },
      409: takesForce
        ? { description: 'Not possible now, or only with `force`', content: forceable }
        : { description: 'Not possible now' },
    },
  }
}

/** For generators of clients: `getAccountsByName`. */
function operationIdOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path.replace('/api/', '').replaceAll('/:', '/by-').split(/\W/)
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

const forceable = jsonContent({
  type: 'object',
  properties: { canForce: { const: true, description: 'There where the same request with `force` is carried out.' } },
})

function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}
