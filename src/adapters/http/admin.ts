/** express: the port for operators, separate from the public one. */
import { isIP } from 'node:net'
import express, {
  type ErrorRequestHandler,
  type Express,
  type IRoute,
  type IRouter,
  type RequestHandler,
  type Response,
  type Router,
} from 'express'
import { Fault, faultTable, standardFault } from '../../domain/fault.ts'
import type { Http } from '../../wire/http.ts'
import { repeatedHeaders, toOriginForm } from './server.ts'

const jsonType = 'application/json; charset=utf-8'
const fixedHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export type Readiness = 'starting' | 'ready' | 'overloaded' | 'stopping'

export interface AdminOptions {
  readonly readiness: () => Readiness
  /** Why the ledger takes no creates; undefined if it does. */
  readonly createRefusal: () => string | undefined
  /** Ids of the processes behind the public port that hang. */
  readonly silentWorkers?: () => readonly number[]
  /** Names accepted in `Host`, besides `localhost` and IP addresses. */
  readonly hosts: readonly string[]
  /** Prints all metrics in Prometheus' exposition format; the `Accept` header selects the version. */
  readonly printMetrics: (accept: string) => Promise<{ readonly contentType: string; readonly text: string }>
  readonly printError: PrintError
}

/** Returns the body of an error as JSON text. */
export type PrintError = (status: number, message: string) => string

export interface AdminApp {
  readonly app: Express
  /** For the operator's API and page, as soon as they are ready. It is empty. */
  readonly operator: Router
  /** The last handler of a router: what its handlers throw is not passed on, which takes another turn of the event loop. */
  readonly onError: ErrorRequestHandler
}

/** Of two, a proxy in front may have judged the other one. */
const single: ReadonlySet<string> = new Set(['host', 'authorization'])

const notReady: Readonly<Record<Exclude<Readiness, 'ready'>, string>> = {
  starting: 'The gateway is starting; please try again soon.',
  overloaded: 'The gateway is overloaded; please try again soon.',
  stopping: 'The gateway is stopping; please use another one.',
}

/** `/livez`: the process runs. `/readyz`: the process accepts clients' requests. `/metrics`: for Prometheus. Then the operator's paths. */
export function adminApp(options: AdminOptions): AdminApp {
  const { readiness, createRefusal, silentWorkers = () => [], hosts, printMetrics, printError } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.use((request, response, next) => {
    response.set(fixedHeaders)
    toOriginForm(request)
    const repeated = repeatedHeaders(request).find((name) => single.has(name))
    if (repeated === undefined) return next()
    response.set({ connection: 'close' })
    throw new Fault('invalid', `Invalid ${repeated}: it must be sent once.`, { reason: 'parameter_invalid' })
  })
  readOnly(app, '/livez', (_, response) => void response.json({ status: 'alive' }))
  readOnly(app, '/readyz', (_, response) => {
    const [status, why, silent] = [readiness(), createRefusal(), silentWorkers()]
    const state = {
      status,
      ...(why !== undefined && { creates: `503: ${why}` }),
      ...(silent.length > 0 && { silentWorkers: silent }),
    }
    if (status === 'ready') return void response.json(state)
    response.set({ 'x-swap-reason': status === 'stopping' ? 'stopping' : 'overloaded', 'retry-after': '1' })
    response.status(503).json({ ...JSON.parse(printError(503, notReady[status])), ...state })
  })
  readOnly(app, '/metrics', async (request, response) => {
    const { contentType, text } = await printMetrics(request.get('accept') ?? '')
    response.type(contentType).send(text)
  })
  const names = new Set(['localhost', ...hosts.map((host) => host.toLowerCase())])
  app.use((request, response, next) => {
    if (isAllowedHost(request.headers.host, names)) return next()
    const body = printError(421, 'This host is not served here; list it in admin.hosts, or use an IP address or localhost.')
    response.set('x-swap-reason', 'path').status(421).type(jsonType).send(body)
  })
  const operator = express.Router({ caseSensitive: true, strict: true })
  app.use(operator)
  app.use(() => {
    throw new Fault('notFound', 'No such path; this port has GET /livez, /readyz and /metrics.', { reason: 'path' })
  })
  const onError: ErrorRequestHandler = (reason, _, response, __) => refuse(response, faultOf(reason), printError)
  app.use(onError)
  return { app, operator, onError }
}

/** After the other methods of a path: OPTIONS is 204, and every further method 405, both with `Allow`. */
export function allowOnly(route: IRoute, allow: string): void {
  route.options((_, response) => void response.set({ allow }).status(204).end())
  route.all(() => {
    throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
  })
}

/** A path that has GET only. */
export function readOnly(router: IRouter, path: string, get: RequestHandler): void {
  allowOnly(router.route(path).get(get), 'GET, HEAD, OPTIONS')
}

/** Whether `Host` is allowed. Another name may belong to an attacker and resolve to this address (DNS rebinding). */
function isAllowedHost(host: string | undefined, names: ReadonlySet<string>): boolean {
  if (host === undefined || !/^[^/?#@\\\s]+$/.test(host) || !URL.canParse(`http://${host}`)) return false
  const name = new URL(`http://${host}`).hostname.toLowerCase().replace(/\.$/, '')
  return names.has(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

/** A parameter of a path that is not UTF-8 is as good as unknown. */
function faultOf(reason: unknown): Fault {
  if (reason instanceof Fault) return reason
  return reason instanceof URIError ? standardFault('notFound') : new Fault('internal', 'Internal error.', { cause: reason })
}

function refuse(response: Response, fault: Fault, printError: PrintError): void {
  const { kind, message, reason, retryAfter, allow, canForce } = fault
  if (response.headersSent) return void response.destroy()
  const { status } = faultTable[kind]
  if (retryAfter !== undefined) response.set('retry-after', String(retryAfter))
  if (allow !== undefined) response.set({ allow })
  if (status === 401) response.set('www-authenticate', 'Bearer')
  const body = printError(status, message)
  response
    .set('x-swap-reason', reason)
    .status(status)
    .type(jsonType)
    .send(canForce ? JSON.stringify({ ...JSON.parse(body), canForce }) : body)
}

/** The response to bytes that are not a valid request. */
export function adminErrorResponse(printError: PrintError): Http {
  return async ({ protocolError }) => {
    const { kind, message, reason } = protocolError ?? new Fault('invalid', 'The request could not be read.')
    const headers = { 'content-type': jsonType, ...fixedHeaders, 'x-swap-reason': reason }
    const { status } = faultTable[kind]
    return { status, headers, body: printError(status, message) }
  }
}
