/** express: one operation of the operator's API (docs/contract-operators.md §15). */
import { once } from 'node:events'
import type { RequestHandler, Response } from 'express'
import { z } from 'zod'
import { toSince } from '../core/operations/duration.ts'
import { inSlices } from '../domain/async.ts'
import { Fault } from '../domain/fault.ts'
import type { OperatorRole } from '../domain/operator-role.ts'

type Parts<Row> = Iterable<Iterable<Row>> | AsyncIterable<Iterable<Row>>

interface ApiResponse {
  readonly status: number
  /** Printed as JSON. */
  readonly body: unknown
  /** The rows of the first list in the body, which is empty there; as they are asked for, a part at a time. */
  readonly parts?: Parts<unknown>
  /** The target of the next page, for the `Link` header. */
  readonly next?: string
}

interface RouteRequest<Body, Query> {
  /** That of the path, decoded; empty if it has none. */
  readonly parameter: string
  readonly query: Query
  readonly body: Body
  /** The name of the token. */
  readonly actor: string
  readonly roles: readonly OperatorRole[]
}

interface RouteDefinition<Body extends z.ZodType, Query extends z.ZodObject> {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** In the syntax of express, with at most one parameter. */
  readonly path: string
  /** For the description of the API. */
  readonly summary: string
  readonly query?: Query
  readonly body?: Body
  /** Whether it has its turn in the quota of what operators read; by default a GET has. */
  readonly isRead?: boolean
  /** Whether some of what is 409 is carried out with `force`. */
  readonly takesForce?: boolean
  /** Undefined: it writes the response itself. */
  readonly handle: (request: RouteRequest<z.output<Body>, z.output<Query>>, response: Response) => Promise<ApiResponse> | undefined
}

export interface Route extends Omit<RouteDefinition<z.ZodType, z.ZodObject>, 'handle'> {
  readonly respond: RequestHandler
}

const noQuery = z.strictObject({})

/** Body and query are checked before `handle` gets them. */
export function route<Body extends z.ZodType, Query extends z.ZodObject>(definition: RouteDefinition<Body, Query>): Route {
  const { handle, ...described } = definition
  return {
    ...described,
    async respond(request, response) {
      const [parameter = ''] = Object.values(request.params).flat()
      const query = parse(definition.query ?? noQuery, parametersOf(request.url), 'parameter_invalid') as z.output<Query>
      const body = parse(definition.body, request.body, 'body_invalid') as z.output<Body>
      const { actor, roles, shown } = response.locals as OperatorLocals
      const result = await handle({ parameter, query, body, actor, roles }, response)
      if (!result) return
      if (result.next !== undefined) response.links({ next: result.next })
      response.status(result.status).type('json')
      const text = JSON.stringify(result.body)
      if (result.parts) await sendParts(response, text, result.parts, shown)
      else response.send(shown(text))
    },
  }
}

/** Characters of a long list that are written at a time. */
const maxPartLength = 65_536

/** No list is too long for one turn of the event loop, or read faster than its client takes it. A short one is sent as any other response. For a client that has left it ends. */
async function sendParts(response: Response, body: string, parts: Parts<unknown>, shown: (text: string) => string): Promise<void> {
  const [before = '', after = ''] = body.split(/(?<=\[)(?=\])/, 2)
  let text = shown(before)
  let separator = ''
  const write = (row: unknown) => {
    text += separator + shown(JSON.stringify(row))
    separator = ','
    if (text.length < maxPartLength) return
    response.write(Buffer.from(text))
    text = ''
  }
  for await (const rows of parts) {
    await inSlices(whileOpen(response, rows), write)
    if (response.writableNeedDrain && !response.destroyed) await Promise.race([once(response, 'drain'), once(response, 'close')])
    if (response.destroyed) return
  }
  text += shown(after)
  if (response.headersSent) response.end(text)
  else response.send(text)
}

function* whileOpen<Row>(response: Response, rows: Iterable<Row>): Generator<Row> {
  for (const row of rows) {
    if (response.destroyed) return
    yield row
  }
}

/** What the token of a request says, for the routes. */
export interface OperatorLocals {
  /** The name of the token. */
  readonly actor: string
  readonly roles: readonly OperatorRole[]
  /** What the token may see of a text. */
  readonly shown: (text: string) => string
}

/** Those of the query, each once: express would drop one that comes after a `#`, and make a list of one that comes twice. */
function parametersOf(url: string): Readonly<Record<string, string>> {
  const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '')
  const names = [...query.keys()]
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if ([...query].flat().some((text) => /\p{Cc}/u.test(text)))
    throw new Fault('invalid', 'A parameter has control characters.', { reason: 'parameter_invalid' })
  if (repeated !== undefined) throw new Fault('invalid', 'A parameter was sent twice.', { reason: 'parameter_invalid' })
  return Object.fromEntries(query)
}

export function ok(body: unknown): ApiResponse {
  return { status: 200, body }
}

/** A list of any length, by itself or as the empty list in `body`. */
export function okRows<Row>(rows: Iterable<Row>, toBody: (row: Row) => unknown, body: unknown = []): ApiResponse {
  return { status: 200, body, parts: [Iterator.from(rows).map(toBody)] }
}

/** A list that is read while it is sent. */
export function okParts<Row>(parts: AsyncIterable<Iterable<Row>>, toBody: (row: Row) => unknown): ApiResponse {
  return { status: 200, body: [], parts: mapped(parts, toBody) }
}

async function* mapped<Row>(parts: AsyncIterable<Iterable<Row>>, toBody: (row: Row) => unknown): AsyncGenerator<Iterable<unknown>> {
  for await (const rows of parts) yield Iterator.from(rows).map(toBody)
}

/** Names of contradictions that a person has judged. */
export const despite = z.array(z.string().regex(/^\w{1,40}$/)).max(20)

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
