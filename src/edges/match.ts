import { Fault } from '../domain/fault.ts'
import { ops } from '../domain/operations.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { HttpRequest } from '../wire/http.ts'

export interface Match {
  readonly operation: OperationCodec
  /** The path's parameters, decoded. */
  readonly path: Readonly<Record<string, string>>
  /** Methods that the path has. */
  readonly allow: string
}

/** The operation that a request is for. Throws 404 before 405; HEAD is GET, and OPTIONS fits every path. */
export function matchOperation(form: Form, { method, path }: HttpRequest): Match {
  const asked = method === 'HEAD' ? 'GET' : method
  let found: Match | undefined
  let allow = ''
  for (const op of ops) {
    const operation = form.operations[op]
    const parameters = operation.path.match(path)
    if (!parameters) continue
    allow += operation.method === 'GET' ? 'GET, HEAD, ' : `${operation.method}, `
    if (operation.method === asked || (asked === 'OPTIONS' && !found)) found = { operation, path: parameters, allow: '' }
  }
  if (allow === '') throw new Fault('notFound', 'No such path; please check the base URL and the spelling.')
  allow += 'OPTIONS'
  if (!found) throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
  return { ...found, allow }
}
