/** express: the operator's API and page on the admin port (docs/contract-operators.md §15). */
import type { Request, RequestHandler, Router } from 'express'
import { type AdminApp, allowOnly } from '../adapters/http/admin.ts'
import { readBody } from '../adapters/http/request-body.ts'
import { withoutSecrets } from '../core/operations/secret-ids.ts'
import { Fault, standardFault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { ProcessorQuota } from '../domain/processor-quota.ts'
import { parseJson } from '../wire/json.ts'
import { apiRoutes } from './api.ts'
import { EventFeed, eventRoute } from './events.ts'
import { addPage } from './page.ts'
import { requireRole } from './roles.ts'
import type { OperatorLocals, Route } from './route.ts'
import { tokenHelp } from './start-token.ts'
import type { OperatorParts } from './stores.ts'
import { TokenCheck } from './tokens.ts'

/** Without tokens there is neither API nor page, and `/` says how to get them. `stopping` ends the streams of events. */
export function addOperator(
  { operator: router, onError }: Pick<AdminApp, 'operator' | 'onError'>,
  parts: OperatorParts,
  observe: Observer,
  stopping: AbortSignal,
): void {
  const tokens = new TokenCheck({ tokens: parts.tokens, clock: () => performance.now(), observe })
  router.use((request, response, next) => {
    if (tokens.isEnabled) return next()
    if (request.path.startsWith('/api/'))
      throw new Fault('notFound', "The operator's API is off: admin.tokens is empty.", { reason: 'path' })
    if (request.path !== '/') return next('router')
    response
      .status(404)
      .set('x-swap-reason', 'path')
      .type('txt')
      .send(`${tokenHelp.join('\n')}\n`)
  })
  const authenticate = authenticated(tokens, parts)
  // A body may take its time: the token may be another one's by then, or have lost its roles.
  router.use('/api', authenticate, readJson, authenticate)
  const events = eventRoute({ feed: new EventFeed(parts), tokens, stopping })
  addRoutes(router, apiRoutes(parts, events), authenticate, requireRole(parts.stores.audit, parts.file))
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

function addRoutes(
  router: Router,
  routes: readonly Route[],
  authenticate: RequestHandler,
  guardOf: (route: Route) => RequestHandler,
): void {
  const reads = new ProcessorQuota()
  const inTurn =
    ({ respond }: Route, guard: RequestHandler): RequestHandler =>
    async (request, response, next) => {
      const { actor } = response.locals as OperatorLocals
      if (!hasPlace(reads.countOf(actor), reads.count)) throw tooMany('reads')
      const left = new AbortController()
      response.once('close', () => left.abort())
      const read = async (): Promise<void> => {
        // What waits for its turn is for those who may read it then.
        await authenticate(request, response, () => {})
        await guard(request, response, () => {})
        await respond(request, response, next)
      }
      await reads.run(actor, read, left.signal).catch((reason) => {
        if (reason !== left.signal.reason) throw reason // for a client that has left nothing is read
      })
    }
  /** By token. */
  const others = new Map<string, number>()
  const atOnce =
    ({ respond }: Route): RequestHandler =>
    async (request, response, next) => {
      const { actor } = response.locals as OperatorLocals
      const count = others.get(actor) ?? 0
      if (count >= maxOfToken) throw tooMany('requests')
      others.set(actor, count + 1)
      try {
        await respond(request, response, next)
      } finally {
        const leftOver = (others.get(actor) ?? 1) - 1
        if (leftOver > 0) others.set(actor, leftOver)
        else others.delete(actor)
      }
    }
  for (const [path, ofPath] of Map.groupBy(routes, (one) => one.path)) {
    const at = router.route(path).all(refuseControlCharacters)
    for (const one of ofPath) {
      const guard = guardOf(one)
      at[one.method](guard, isRead(one) ? inTurn(one, guard) : atOnce(one))
    }
    const methods = ofPath.map(({ method }) => method.toUpperCase())
    allowOnly(at, [...methods.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method])), 'OPTIONS'].join(', '))
  }
}

function isRead({ method, isRead = method === 'get' }: Route): boolean {
  return isRead
}

/** Of the requests of a token, and of its reads. */
const maxOfToken = 16
/** The page has no more at a time. */
const maxOfPage = 6
/** From here on a token has as many as the page: the port has 64 places, and probes, Prometheus and streams of events come in beside reads that wait. */
const manyReads = 24

function hasPlace(own: number, all: number): boolean {
  return own < maxOfPage || (own < maxOfToken && all < manyReads)
}

function tooMany(what: string): Fault {
  return new Fault('limited', `This token has too many ${what} in progress; please wait for their responses.`, { retryAfter: 1 })
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
