/** express: the operator's API and page on the admin port (docs/contract.md §15). */
import express, { type Request, type Response, type Router } from 'express'
import { Fault, faultTable } from '../../domain/fault.ts'
import { parseJson } from '../../wire/json.ts'
import { readBody } from './request-body.ts'

export interface OperatorOptions {
  readonly tokens: {
    readonly isEnabled: boolean
    /** The name of the token; throws a `Fault`. */
    readonly authenticate: (authorization: string | undefined, address: string) => Promise<string>
    readonly isValid: (authorization: string) => boolean
  }
  /** Throws a `Fault`. */
  readonly api: (request: {
    readonly method: string
    readonly path: string
    readonly query: URLSearchParams
    readonly body: unknown
    readonly actor: string
  }) => Promise<{
    readonly status: number
    readonly body: unknown
    readonly allow?: string
    readonly next?: string
    readonly isStream?: boolean
  }>
  readonly events: {
    /** Undefined where too many listen. */
    readonly subscribe: (listener: (event: { event: string; data: string }) => void) => (() => void) | undefined
  }
  /** The page and its files, by path. */
  readonly page: ReadonlyMap<string, { readonly contentType: string; readonly body: string }>
  /** Aborted when the process begins to stop. */
  readonly stopping: AbortSignal
  readonly printError: (status: number, message: string) => string
}

const maxBodyBytes = 16_384
const commentIntervalMs = 15_000
const tokenCheckIntervalMs = 1_000
/** A listener that does not read is cut off. */
const maxUnsentBytes = 1_048_576
const jsonType = 'application/json; charset=utf-8'
const pageMethods = 'GET, HEAD, OPTIONS'
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** Without tokens there is neither API nor page. */
export function operatorRouter(options: OperatorOptions): Router {
  const { tokens, page } = options
  const router = express.Router({ caseSensitive: true, strict: true })
  router.use((_, __, next) => (tokens.isEnabled ? next() : next('router')))
  router.use('/api', (request, response) => {
    handle(request, response, options).catch((reason) => refuse(response, Fault.from(reason), options))
  })
  router.use((request, response, next) => {
    const file = page.get(request.path)
    if (!file) return next()
    if (request.method === 'OPTIONS') return void response.set({ allow: pageMethods }).status(204).end()
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, notOnPage(), options)
    response.set({ 'content-security-policy': pagePolicy, 'referrer-policy': 'no-referrer' }).type(file.contentType).send(file.body)
  })
  return router
}

async function handle(request: Request, response: Response, options: OperatorOptions): Promise<void> {
  const { authorization } = request.headers
  const actor = await options.tokens.authenticate(authorization, request.socket.remoteAddress ?? '')
  const { url } = request
  const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '')
  const body = await bodyOf(request)
  const answer = await options.api({ method: request.method, path: request.path, query, body, actor })
  if (answer.isStream) {
    if (request.method === 'HEAD') return void response.type('text/event-stream').end()
    return streamEvents(authorization ?? '', response, options)
  }
  if (answer.allow !== undefined) response.set({ allow: answer.allow })
  if (answer.next !== undefined) response.links({ next: answer.next })
  response.status(answer.status)
  if (answer.body === undefined) response.end()
  else response.type(jsonType).send(JSON.stringify(answer.body))
}

function notOnPage(): Fault {
  return new Fault('methodNotAllowed', `This path has ${pageMethods}.`, { allow: pageMethods })
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

function streamEvents(authorization: string, response: Response, { tokens, events, stopping }: OperatorOptions): void {
  const send = (text: string): void => {
    if (response.writableEnded || response.destroyed) return
    response.write(text)
    if (response.writableLength > maxUnsentBytes) response.destroy()
  }
  const head = (): void => {
    if (!response.headersSent) response.status(200).type('text/event-stream').flushHeaders()
  }
  const unsubscribe = events.subscribe(({ event, data }) => {
    head()
    send(`event: ${event}\ndata: ${data}\n\n`)
  })
  if (!unsubscribe) throw new Fault('limited', 'Too many listen already; please close another page.', { retryAfter: 15 })
  head()
  const comments = setInterval(() => send(': still here\n\n'), commentIntervalMs)
  const checks = setInterval(() => {
    if (tokens.isValid(authorization)) return
    // What waits to be sent is not for this listener any more.
    if (response.writableLength > 0) response.destroy()
    else response.end()
  }, tokenCheckIntervalMs)
  const end = (): void => void response.end()
  stopping.addEventListener('abort', end)
  if (stopping.aborted) end()
  response.once('close', () => {
    unsubscribe()
    clearInterval(comments)
    clearInterval(checks)
    stopping.removeEventListener('abort', end)
  })
}

function refuse(response: Response, fault: Fault, { printError }: OperatorOptions): void {
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
