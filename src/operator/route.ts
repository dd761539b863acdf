/** One operation of the operator's API (docs/contract.md §15). */
import { z } from 'zod'
import { toSince } from '../core/operations/duration.ts'
import { Fault, standardFault } from '../domain/fault.ts'

type ApiMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** A request whose token was accepted. */
export interface ApiRequest {
  readonly method: string
  /** Below `/api`. */
  readonly path: string
  readonly query: URLSearchParams
  /** JSON; undefined where none was sent. */
  readonly body: unknown
  /** The name of the token. */
  readonly actor: string
}

export interface ApiResponse {
  readonly status: number
  /** Printed as JSON; undefined where there is none. */
  readonly body: unknown
  /** Methods of the path, for the `Allow` header. */
  readonly allow?: string
  /** The target of the next page, for the `Link` header. */
  readonly next?: string
  /** The stream of events follows in place of a body. */
  readonly isStream?: boolean
}

interface RouteRequest<Body = unknown, Query = unknown> {
  /** The value of `{name}`, decoded. */
  readonly parameter: string
  readonly query: Query
  readonly body: Body
  readonly actor: string
}

export interface Route {
  readonly method: ApiMethod
  /** Below `/api`, with at most one `{name}`. */
  readonly path: string
  /** For the description of the API. */
  readonly summary: string
  readonly query?: z.ZodObject | undefined
  readonly body?: z.ZodType | undefined
  /** Whether some of what is 409 is carried out with `force`. */
  readonly takesForce?: boolean | undefined
  readonly handle: (request: RouteRequest) => Promise<ApiResponse>
}

interface RouteFacts<Body extends z.ZodType, Query extends z.ZodObject> {
  readonly method: ApiMethod
  readonly path: string
  readonly summary: string
  readonly query?: Query
  readonly body?: Body
  readonly takesForce?: boolean
  readonly handle: (request: RouteRequest<z.output<Body>, z.output<Query>>) => Promise<ApiResponse>
}

const noQuery = z.strictObject({})

/** Body and query are checked before `handle` gets them. */
export function route<Body extends z.ZodType, Query extends z.ZodObject>(facts: RouteFacts<Body, Query>): Route {
  const { query, body, handle, ...rest } = facts
  return {
    ...rest,
    query,
    body,
    handle: (request) =>
      handle({
        ...request,
        query: parse(query ?? noQuery, request.query, 'parameter_invalid') as z.output<Query>,
        body: parse(body, request.body, 'body_invalid') as z.output<Body>,
      }),
  }
}

export function ok(body: unknown): ApiResponse {
  return { status: 200, body }
}

/** 409, with `canForce` where the same command with `force` is carried out. `message`: of the operation, as a command prints it. */
export function refused(message: string, canForce = false): Fault {
  return new Fault('inProgress', sentence(message), { reason: 'refused', canForce })
}

export function sentence(message: string): string {
  return `${message[0]?.toUpperCase()}${message.slice(1)}.`
}

function parse(schema: z.ZodType | undefined, value: unknown, reason: 'parameter_invalid' | 'body_invalid'): unknown {
  if (!schema) return undefined
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const [issue] = error.issues
  const name = issue?.path.join('.') ?? ''
  const where = name === '' ? 'request' : name
  if (issue?.code !== 'unrecognized_keys') throw new Fault('invalid', `Invalid ${where}: ${issue?.message}.`, { reason })
  throw new Fault('invalid', `Invalid ${where}: unknown: ${issue.keys.join(', ')}.`, { reason: 'parameter_unknown' })
}

interface FoundRoute {
  readonly route: Route
  readonly parameter: string
}

/** Throws 404 for an unknown path, 405 for a method that the path does not have. */
export function findRoute(routes: readonly Route[], method: string, path: string): FoundRoute {
  const matching = matchingRoutes(routes, path)
  const found = matching.find((one) => one.route.method === (method === 'HEAD' ? 'GET' : method))
  if (found) return found
  const allow = allowOf(matching)
  throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
}

/** The methods of a path, for the `Allow` header. Throws 404 for an unknown path. */
export function allowedMethods(routes: readonly Route[], path: string): string {
  return allowOf(matchingRoutes(routes, path))
}

function matchingRoutes(routes: readonly Route[], path: string): readonly FoundRoute[] {
  const matching = routes.flatMap((one) => {
    const parameter = parameterIn(one.path, path)
    return parameter === undefined ? [] : [{ route: one, parameter }]
  })
  if (matching.length > 0) return matching
  throw new Fault('notFound', 'No such path; GET /api/openapi.json describes them all.', { reason: 'path' })
}

function allowOf(matching: readonly FoundRoute[]): string {
  const methods = matching.map((one) => one.route.method)
  return [...methods.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method])), 'OPTIONS'].join(', ')
}

/** Empty if the pattern has no parameter; undefined if the path does not match. */
function parameterIn(pattern: string, path: string): string | undefined {
  const [before = '', after] = pattern.split(/\{\w+\}/)
  if (after === undefined) return path === pattern ? '' : undefined
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined
  const raw = path.slice(before.length, path.length - after.length)
  return raw === '' || raw.includes('/') ? undefined : decoded(raw)
}

function decoded(text: string): string {
  try {
    const name = decodeURIComponent(text)
    if (!/\p{Cc}/u.test(name)) return name
  } catch {
    // Not UTF-8: as good as unknown.
  }
  throw standardFault('notFound')
}

// zod: values in queries and bodies of the operator's API.

/** A date, a time, or a duration back from now; milliseconds since 1970. */
export const since = z.string().transform((text, context): number => {
  const at = toSince(text)
  if (at !== undefined) return at
  context.issues.push({ code: 'custom', message: 'must be a date, a time or a duration like 7d', input: text })
  return z.NEVER
})

/** An integer in a query. */
export function integer(min: number, max: number, defaultValue: number) {
  const message = `must be an integer from ${min} to ${max}`
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .default(defaultValue)
}
