/** express: the operator's API and page on the admin port (docs/contract.md §15). */
import type { Request, RequestHandler, Router } from 'express'
import { type AdminApp, allowOnly } from '../adapters/http/admin.ts'
import { readBody } from '../adapters/http/request-body.ts'
import { withoutSecrets } from '../core/operations/secret-ids.ts'
import { Fault, standardFault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { parseJson } from '../wire/json.ts'
import { apiRoutes } from './api.ts'
import { EventFeed, eventRoute } from './events.ts'
import { addPage } from './page.ts'
import { requireRole } from './roles.ts'
import type { OperatorLocals, Route } from './route.ts'
import type { OperatorParts } from './stores.ts'
import { TokenCheck } from './tokens.ts'

/** Without tokens there is neither API nor page. `stopping` ends the streams of events. */
export function addOperator(
  { operator: router, onError }: Pick<AdminApp, 'operator' | 'onError'>,
  parts: OperatorParts,
  observe: Observer,
  stopping: AbortSignal,
): void {
  const tokens = new TokenCheck({ tokens: () => parts.file().admin.tokens, clock: () => performance.now(), observe })
  router.use((_, __, next) => (tokens.isEnabled ? next() : next('router')))
  router.use('/api', authenticated(tokens, parts), readJson)
  const events = eventRoute({ feed: new EventFeed(parts), tokens, stopping })
  addRoutes(router, apiRoutes(parts, events), requireRole(parts.stores.audit, parts.file))
  router.use('/api', () => {
    throw new Fault('notFound', 'No such path; GET /api/openapi.json describes them all.', { reason: 'path' })
  })
  addPage(router)
  router.use(onError)
}

function authenticated(tokens: TokenCheck, { hasPlainIds }: OperatorParts): RequestHandler {
  return async ({ headers, socket }, response, next) => {
    const operator = await tokens.authenticate(headers.authorization, socket.remoteAddress ?? '')
    const shown = (text: string) => (operator.roles.includes('money') ? text : withoutSecrets(text, hasPlainIds))
    Object.assign(response.locals, { ...operator, shown } satisfies OperatorLocals)
    next()
  }
}

function addRoutes(router: Router, routes: readonly Route[], guardOf: (route: Route) => RequestHandler): void {
  for (const [path, ofPath] of Map.groupBy(routes, (one) => one.path)) {
    const at = router.route(path).all(refuseControlCharacters)
    for (const one of ofPath) at[one.method](guardOf(one), one.respond)
    const methods = ofPath.map(({ method }) => method.toUpperCase())
    allowOnly(at, [...methods.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method])), 'OPTIONS'].join(', '))
  }
}

/** No store has a name with one. */
const refuseControlCharacters: RequestHandler = ({ params }, _, next) => {
  if (Object.values(params).some((parameter) => /\p{Cc}/u.test(String(parameter)))) throw standardFault('notFound')
  next()
}

const maxBodyBytes = 16_384

/** Not express.json: that takes a name twice, and text that is not UTF-8. */
const readJson: RequestHandler = async (request, _, next) => {
  request.body = await bodyOf(request)
  next()
}

/** Undefined where there is none. */
async function bodyOf(request: Request): Promise<unknown> {
  const text = await readBody(request, maxBodyBytes)
  if (text === '') return undefined
  if (!/^application\/json\s*(?:;|$)/i.test(request.get('content-type') ?? ''))
    throw new Fault('unsupportedMediaType', 'The body must be sent as content-type application/json.')
  try {
    // Refuses what JSON.parse takes: of two members with one name only the second would count.
    parseJson(text)
    return JSON.parse(text)
  } catch (cause) {
    throw new Fault('invalid', 'The body must be JSON, with each name once in an object.', { reason: 'body_invalid', cause })
  }
}
