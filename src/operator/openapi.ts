/** Describes the operator's API in OpenAPI 3.1, from its routes. */
import { z } from 'zod'
import type { Route } from './route.ts'

export function describeApi(routes: readonly Route[], version: string): object {
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

function operationOf({ path, summary, query, body }: Route): object {
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
  const inPath = parameter === undefined ? [] : [{ name: parameter, in: 'path', required: true, schema: { type: 'string' } }]
  const inQuery = Object.keys(query?.shape ?? {}).map((name) => ({ name, in: 'query', schema: { type: 'string' } }))
  const descriptions = {
    200: 'Done',
    400: 'Invalid',
    401: 'No valid token',
    404: 'Not there',
    409: 'Needs force, or not possible now',
  }
  return {
    summary,
    ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) } },
      },
    }),
    responses: Object.fromEntries(Object.entries(descriptions).map(([status, description]) => [status, { description }])),
  }
}
