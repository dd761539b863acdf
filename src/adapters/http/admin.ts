/** express: the port for operators, separate from the public one. */
import { isIP } from 'node:net'
import express, { type Express, type Response, type Router } from 'express'
import { Fault, faultTable, type Reason } from '../../domain/fault.ts'
import type { Http } from '../../wire/http.ts'
import { repeatedHeaders, toOriginForm } from './server.ts'

const jsonType = 'application/json; charset=utf-8'
const fixedHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export type Readiness = 'starting' | 'ready' | 'overloaded' | 'draining'

export interface AdminOptions {
  readonly readiness: () => Readiness
  /** Names accepted in `Host`, besides `localhost` and IP addresses. */
  readonly hosts: readonly string[]
  /** Prints all metrics in Prometheus' exposition format; the `Accept` header selects the version. */
  readonly printMetrics: (accept: string) => Promise<{ readonly contentType: string; readonly text: string }>
  readonly printError: PrintError
  /** The operator's API and page; undefined until they are ready. */
  readonly operator: () => Router | undefined
}

/** Returns the body of an error as JSON text. */
export type PrintError = (status: number, message: string) => string

const allow = 'GET, HEAD, OPTIONS'
/** Of two, a proxy in front may have judged the other one. */
const single: ReadonlySet<string> = new Set(['host', 'authorization'])

const notReady: Readonly<Record<Exclude<Readiness, 'ready'>, string>> = {
  starting: 'The gateway is starting; please try again soon.',
  overloaded: 'The gateway is overloaded; please try again soon.',
  draining: 'The gateway is stopping; please use another one.',
}

/** `/livez`: the process runs. `/readyz`: the process accepts clients' requests. `/metrics`: for Prometheus. */
export function adminApp({ readiness, hosts, printMetrics, printError, operator }: AdminOptions): Express {
  const refuse = refusing(printError)
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
    refuse(response.set({ connection: 'close' }), 'parameter_invalid', 400, `Invalid ${repeated}: it must be sent once.`)
  })
  app.get('/livez', (_, response) => void response.json({ status: 'alive' }))
  app.get('/readyz', (_, response) => {
    const status = readiness()
    if (status === 'ready') return void response.json({ status })
    response.set({ 'x-swap-reason': status === 'draining' ? 'stopping' : 'overloaded', 'retry-after': '1' })
    response.status(503).json({ ...JSON.parse(printError(503, notReady[status])), status })
  })
  app.get('/metrics', async (request, response) => {
    const { contentType, text } = await printMetrics(request.get('accept') ?? '')
    response.type(contentType).send(text)
  })
  const paths = ['/livez', '/readyz', '/metrics']
  app.options(paths, (_, response) => void response.set({ allow }).status(204).end())
  app.all(paths, (_, response) => refuse(response.set({ allow }), 'method', 405, `This path has ${allow}.`))
  const names = new Set(['localhost', ...hosts.map((host) => host.toLowerCase())])
  app.use((request, response, next) => {
    if (isAllowedHost(request.headers.host, names)) return next()
    refuse(response, 'path', 421, 'This host is not served here; list it in admin.hosts, or use an IP address or localhost.')
  })
  app.use((request, response, next) => {
    const router = operator()
    if (router) router(request, response, next)
    else next()
  })
  app.use((_, response) => refuse(response, 'path', 404, 'No such path; this port has GET /livez, /readyz and /metrics.'))
  app.use((_: unknown, __: unknown, response: Response, ___: unknown) => refuse(response, 'internal', 500, 'Internal error.'))
  return app
}

/** Whether `Host` is allowed. Another name may belong to an attacker and resolve to this address (DNS rebinding). */
function isAllowedHost(host: string | undefined, names: ReadonlySet<string>): boolean {
  if (host === undefined || !/^[^/?#@\\\s]+$/.test(host) || !URL.canParse(`http://${host}`)) return false
  const name = new URL(`http://${host}`).hostname.toLowerCase().replace(/\.$/, '')
  return names.has(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0
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

type Refuse = (response: Response, reason: Reason, status: number, message: string) => void

function refusing(printError: PrintError): Refuse {
  return (response, reason, status, message) => {
    response.set('x-swap-reason', reason).status(status).type(jsonType).send(printError(status, message))
  }
}
