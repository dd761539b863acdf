/** The operator's API: what a person may read and change over HTTP, as the commands do (docs/contract.md §15). */

import { z } from 'zod'
import { Fault } from '../domain/fault.ts'
import { type ApiRequest, type ApiResponse, allowedMethods, findRoute, ok, type Route, route } from './route.ts'
import { auditRoutes, keyRoutes } from './routes/keys.ts'
import { providerRoutes } from './routes/providers.ts'
import { transactionRoutes, unresolvedRoutes } from './routes/transactions.ts'
import { type OperatorParts, withLedgerFaults } from './stores.ts'

type OperatorApi = (request: ApiRequest) => Promise<ApiResponse>

/** Throws a `Fault` for what cannot be done. */
export function operatorApi({ stores, ...others }: OperatorParts, version: string): OperatorApi {
  const parts = { ...others, stores: withLedgerFaults(stores) }
  const described: readonly Route[] = [
    ...providerRoutes(parts),
    ...unresolvedRoutes(parts),
    ...transactionRoutes(parts),
    ...keyRoutes(parts),
    ...auditRoutes(parts),
    events,
  ]
  const description: Route = route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description.',
    handle: async () => ok(describeApi(routes, version)),
  })
  const routes = [...described, description]
  return async ({ method, path, query, body, actor }) => {
    if (method === 'OPTIONS') return { status: 204, body: undefined, allow: allowedMethods(routes, path) }
    const found = findRoute(routes, method, path)
    return await found.route.handle({ parameter: found.parameter, query: parametersOf(query), body, actor })
  }
}

/** Described here; the adapter of the port writes the stream. */
const events: Route = route({
  method: 'GET',
  path: '/events',
  summary: 'Server-sent events `provider`, `overrides` and `unresolved`: what is so now, then each change.',
  handle: async () => ({ status: 200, body: undefined, isStream: true }),
})

function parametersOf(query: URLSearchParams): Record<string, string> {
  const names = [...query.keys()]
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if ([...query].flat().some((text) => /\p{Cc}/u.test(text)))
    throw new Fault('invalid', 'A parameter has control characters.', { reason: 'parameter_invalid' })
  if (repeated !== undefined) throw new Fault('invalid', 'A parameter was sent twice.', { reason: 'parameter_invalid' })
  return Object.fromEntries(query)
}

// Describes the operator's API in OpenAPI 3.1, from its routes.

function describeApi(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const one of routes) {
    const path = `/api${one.path}`
    paths[path] = { ...paths[path], [one.method.toLowerCase()]: operationOf(one) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'swapgate for operators', version, description: 'On the admin port. Errors have the body of `defaultForm`.' },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token of `admin.tokens`.' } } },
    security: [{ token: [] }],
    paths,
  }
}

function operationOf({ path, summary, query, body, takesForce = false }: Route): object {
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
  const inPath = parameter === undefined ? [] : [{ name: parameter, in: 'path', required: true, schema: { type: 'string' } }]
  const inQuery = Object.keys(query?.shape ?? {}).map((name) => ({ name, in: 'query', schema: { type: 'string' } }))
  return {
    summary,
    ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(body && {
      requestBody: { required: true, content: jsonContent(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })) },
    }),
    responses: {
      200: { description: 'Done' },
      400: { description: 'Invalid' },
      401: { description: 'No valid token' },
      404: { description: 'Not there' },
      409: takesForce
        ? { description: 'Not possible now, or only with `force`', content: forceable }
        : { description: 'Not possible now' },
    },
  }
}

const forceable = jsonContent({
  type: 'object',
  properties: { canForce: { const: true, description: 'There where the same request with `force` is carried out.' } },
})

function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}
