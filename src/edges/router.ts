/** Finds what a request leads to: path, then method. */
import { Fault } from '../domain/fault.ts'
import { ops } from '../domain/service.ts'
import type { Endpoint, Form, OperationCodec } from '../wire/form.ts'

export interface Match {
  /** The template of the path. */
  readonly pattern: string
  /** Undefined if the path does not have the method. */
  readonly endpoint: Endpoint | undefined
  /** The path's parameters, decoded. */
  readonly path: Readonly<Record<string, string>>
  /** The methods of the path, for `Allow`. */
  readonly allow: string
}

/** `mountedAt`: what stands before the path, for messages. */
export type Router = (method: string, path: string, mountedAt?: string) => Match

interface Route {
  readonly pattern: string
  readonly match: OperationCodec['path']['match']
  readonly byMethod: ReadonlyMap<string, Endpoint>
  readonly allow: string
}

/** Finds the path and the endpoint of a request. `answered`: the questions that have answers here, and the streams that there are. HEAD counts as GET; OPTIONS matches every path. Throws a `Fault` (404). */
export function router(form: Form, basePaths: readonly string[] = [], answered: ReadonlySet<string> = new Set()): Router {
  const routes = routesOf(form, answered)
  const paths = routes.map(({ pattern }) => pattern).join(', ')
  return (method, path, mountedAt = '') => {
    for (const { pattern, match, byMethod, allow } of routes) {
      const parameters = match(path)
      if (parameters) return { pattern, endpoint: byMethod.get(method), path: parameters, allow }
    }
    const isOfNoForm = path === '' && basePaths.length > 0
    const known = isOfNoForm
      ? `the base paths are ${basePaths.map((base) => mountedAt + base).join(', ')}`
      : `below its base path Form ${form.name} has ${paths}`
    throw new Fault('notFound', `No such path; ${known}.`, { reason: 'path' })
  }
}

/** One route for each path, with all its methods. */
function routesOf({ operations, questions, streams }: Form, answered: ReadonlySet<string>): readonly Route[] {
  const byPath = Map.groupBy<string, Endpoint>(
    [
      ...ops.map((op) => operations[op]),
      ...questions.filter(({ question }) => answered.has(question)),
      ...streams.filter(({ stream }) => answered.has(stream)),
    ],
    ({ path }) => path.pattern,
  )
  return [...byPath.values()].flatMap((sharing) => {
    const [first] = sharing
    if (!first) return []
    const methods = sharing.flatMap((endpoint) => [[endpoint.method, endpoint] as const])
    const get = sharing.find(({ method }) => method === 'GET')
    const all = [...methods, ...(get ? [['HEAD', get] as const] : []), ['OPTIONS', first] as const]
    const allow = all.map(([method]) => method).join(', ')
    return [{ pattern: first.path.pattern, match: first.path.match, byMethod: new Map(all), allow }]
  })
}
