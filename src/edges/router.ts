/** Finds the operation of a request: path, then method. */
import { Fault } from '../domain/fault.ts'
import { ops } from '../domain/service.ts'
import type { Form, OperationCodec } from '../wire/form.ts'

export interface Match {
  /** The template of the path. */
  readonly pattern: string
  /** Undefined if the path does not have the method. */
  readonly operation: OperationCodec | undefined
  /** The path's parameters, decoded. */
  readonly path: Readonly<Record<string, string>>
  /** The methods of the path, for `Allow`. */
  readonly allow: string
}

export type Router = (method: string, path: string) => Match

interface Route {
  readonly pattern: string
  readonly match: OperationCodec['path']['match']
  readonly byMethod: ReadonlyMap<string, OperationCodec>
  readonly allow: string
}

/** Finds the path and the operation of a request. HEAD counts as GET; OPTIONS matches every path. Throws a `Fault` (404). */
export function router(form: Form, basePaths: readonly string[] = []): Router {
  const routes = routesOf(form)
  const paths = routes.map(({ pattern }) => pattern).join(', ')
  return (method, path) => {
    for (const { pattern, match, byMethod, allow } of routes) {
      const parameters = match(path)
      if (parameters) return { pattern, operation: byMethod.get(method), path: parameters, allow }
    }
    const isOfNoForm = path === '' && basePaths.length > 0
    const known = isOfNoForm ? `the base paths are ${basePaths.join(', ')}` : `below its base path Form ${form.name} has ${paths}`
    throw new Fault('notFound', `No such path; ${known}.`, { reason: 'path' })
  }
}

/** One route for each path, with all its methods. */
function routesOf({ operations }: Form): readonly Route[] {
  const byPath = Map.groupBy(
    ops.map((op) => operations[op]),
    ({ path }) => path.pattern,
  )
  return [...byPath.values()].flatMap((sharing) => {
    const [first] = sharing
    if (!first) return []
    const methods = sharing.flatMap((operation) => [[operation.method, operation] as const])
    const get = sharing.find(({ method }) => method === 'GET')
    const all = [...methods, ...(get ? [['HEAD', get] as const] : []), ['OPTIONS', first] as const]
    const allow = all.map(([method]) => method).join(', ')
    return [{ pattern: first.path.pattern, match: first.path.match, byMethod: new Map(all), allow }]
  })
}
