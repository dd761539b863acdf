/** The operator's API: what a person may read and change over HTTP, as the commands do (docs/contract.md §15). */
import { Fault } from '../domain/fault.ts'
import { describeApi } from './openapi.ts'
import { type ApiRequest, type ApiResponse, allowedMethods, findRoute, ok, type Route, route } from './route.ts'
import { auditRoutes } from './routes/audit.ts'
import { keyRoutes } from './routes/keys.ts'
import { providerRoutes } from './routes/providers.ts'
import { transactionRoutes } from './routes/transactions.ts'
import { unresolvedRoutes } from './routes/unresolved.ts'
import { type OperatorParts, withLedgerFaults } from './stores.ts'

export type OperatorApi = (request: ApiRequest) => Promise<ApiResponse>

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
