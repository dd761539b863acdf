/** The operator's API: what a person may see and change over HTTP, as the commands do (docs/contract.md §15). */
import { Fault } from '../domain/faults/fault.ts'
import { describeApi } from './openapi.ts'
import { type ApiRequest, type ApiResponse, findRoute, ok, type Route, route } from './route.ts'
import { auditRoutes } from './routes/audit.ts'
import { keyRoutes } from './routes/keys.ts'
import { providerRoutes } from './routes/providers.ts'
import { transactionRoutes } from './routes/transactions.ts'
import { unresolvedRoutes } from './routes/unresolved.ts'
import type { OperatorParts } from './stores.ts'

export type OperatorApi = (request: ApiRequest) => Promise<ApiResponse>

/** Throws a `Fault` for what cannot be done. */
export function operatorApi(parts: OperatorParts, version: string): OperatorApi {
  const routes: readonly Route[] = [
    ...providerRoutes(parts),
    ...unresolvedRoutes(parts),
    ...transactionRoutes(parts),
    ...keyRoutes(parts),
    ...auditRoutes(parts),
  ]
  const description: Route = route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description.',
    handle: async () => ok(describeApi([...routes, description], version)),
  })
  return ({ method, path, query, body, actor }) => {
    const found = findRoute([...routes, description], method, path)
    return found.route.handle({ parameter: found.parameter, query: parametersOf(query), body, actor })
  }
}

function parametersOf(query: URLSearchParams): Record<string, string> {
  const names = [...query.keys()]
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if ([...query].flat().some((text) => /\p{Cc}/u.test(text)))
    throw new Fault('invalid', 'A parameter has control characters.', { reason: 'parameter_invalid' })
  if (repeated !== undefined) throw new Fault('invalid', 'A parameter was sent twice.', { reason: 'parameter_invalid' })
  return Object.fromEntries(query)
}
