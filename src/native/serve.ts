/** The client's edge of the native lane: a provider's own endpoints for clients with an issued key (docs/contract.md §11). */
import type { AbsentSwaps } from '../domain/absent-swaps.ts'
import { Fault, standardFault } from '../domain/fault.ts'
import {
  countedAs,
  findOpenPath,
  type NamedSwaps,
  namedSwaps,
  namesSwaps,
  type OpenPath,
  type SwapsNamed,
} from '../domain/native.ts'
import type { Caller } from '../domain/service.ts'
import { admit, requireKeyStill } from '../edges/admit.ts'
import type { NativeMount, ServeNative } from '../edges/mounts.ts'
import { type ClientEdge, type RequestRecord, recorded, workFor } from '../edges/record.ts'
import { type BodyStart, bodyWasRead, type HttpRequest, type HttpResponse } from '../wire/http.ts'
import { announcesBody, callNative } from './call.ts'
import type { NativeLane } from './lane.ts'

/** Never throws: each fault before the head of the response becomes a response in the form. `lanes`: by tag; empty in passthrough mode. */
export function serveNative(
  lanes: ReadonlyMap<string, NativeLane>,
  edge: ClientEdge,
  swapsNamed: SwapsNamed,
  absentSwaps: AbsentSwaps,
): ServeNative {
  return (request, mount) =>
    recorded(request, mount.form, undefined, edge, (record) =>
      respond(request, mount, record, lanes, edge, swapsNamed, absentSwaps),
    )
}

/** `Retry-After` in seconds while a provider is off. */
const offRetryAfter = 60

/** The checks in the order of docs/contract.md §6, then the call. */
async function respond(
  request: HttpRequest,
  mount: NativeMount,
  record: RequestRecord,
  lanes: ReadonlyMap<string, NativeLane>,
  edge: ClientEdge,
  swapsNamed: SwapsNamed,
  absentSwaps: AbsentSwaps,
): Promise<HttpResponse> {
  const { path, credentialConflict } = mount
  if (request.protocolError) throw request.protocolError
  const [, tag = ''] = path.split('/', 2)
  const lane = lanes.get(tag)
  const below = path.slice(tag.length + 1)
  const openPath = lane && findOpenPath(lane.open, request.method, below)
  if (!openPath || request.query.includes('#')) throw notOpen()
  record.route = `/native/${tag}${openPath.pattern}`
  record.operation = 'native'
  if (credentialConflict) throw credentialConflict
  const caller = await admit(request, mount, { op: countedAs(openPath.method), isOperation: false }, record, edge)
  checkRequest(request, lane)
  const admittedAt = performance.now()
  const body = (await readableBody(request, openPath, lane, caller)) ?? ''
  await requireKeyStill(caller, countedAs(openPath.method), record, edge, admittedAt)
  refuseKey(request.query, body, caller)
  await refuseOtherSwaps(namedSwaps(openPath, below, request.query, body), caller, tag, swapsNamed, absentSwaps)
  if (lane.isOff) throw standardFault('unavailable', { retryAfter: offRetryAfter, effect: 'refused' })
  return workFor(caller, edge, () => callNative(lane, openPath, below, { request, caller, record }, edge.observe))
}

/** No longer body is looked into. */
const maxReadBytes = 65_536

/**
 * The text of a body that is looked into before it goes up, whatever its type is; of a multipart form also beside other bytes
 * (`test/native/bodies.test.ts`). Undefined for one that is no text, and for one that is too long or coded where the path names no swap;
 * where it names one, throws `tooLarge`.
 */
async function readableBody(
  { headers, streams }: HttpRequest,
  openPath: OpenPath,
  { guard, idleTimeoutMs, totalTimeoutMs }: NativeLane,
  { identity = '' }: Caller,
): Promise<string | undefined> {
  if (!streams || !announcesBody(headers)) return undefined
  const { 'content-encoding': coding = 'identity' } = headers
  const isCoded = coding.trim().toLowerCase() !== 'identity'
  if (!isCoded) {
    const start = await guard.awaitBody(identity, () => streams.peekBody(maxReadBytes, idleTimeoutMs, totalTimeoutMs))
    const type = headers['content-type']?.slice(0, 200) ?? ''
    // Beside a file a form has texts.
    const text = textOf(start) ?? (/^\s*multipart\//i.test(type) ? Buffer.from(start.bytes).toString('latin1') : undefined)
    if (text === undefined && isDeclaredText(type)) {
      const message = 'Invalid body: one of this Content-Type must be UTF-8 without control characters.'
      throw new Fault('invalid', message, { reason: 'body_invalid' })
    }
    if (start.isWhole || text === undefined) return text
  }
  if (!namesSwaps(openPath)) return undefined
  throw new Fault('tooLarge', `The body must have at most ${maxReadBytes} bytes here, and no Content-Encoding.`)
}

/** Of a type whose readers may take another charset for it. */
function isDeclaredText(contentType: string): boolean {
  return /\bjson\b|\burlencoded\b|\bxml\b|^\s*text\//i.test(contentType)
}

/** UTF-8 without control characters, whatever its type says: a provider may not ask for that. A part may end within a character. */
function textOf({ bytes, isWhole }: BodyStart): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole })
    return /[^\P{Cc}\t\r\n]/u.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** Throws for a path, a query or a body that names a swap of another owner, or one that may be. */
async function refuseOtherSwaps(
  { own, other }: NamedSwaps,
  { identity = '' }: Caller,
  provider: string,
  swapsNamed: SwapsNamed,
  absentSwaps: AbsentSwaps,
): Promise<void> {
  if (own.length === 0 && other.length === 0) return
  const isOwn = await swapsNamed(identity, provider, [...new Set([...own, ...other])])
  const foreign = own.find((id) => isOwn.get(id) !== true) ?? other.find((id) => isOwn.get(id) === false)
  if (foreign !== undefined) throw await absentSwaps.fault(provider, foreign)
  const unknown = await absentSwaps.mayBeNamed(
    provider,
    other.filter((id) => !isOwn.has(id)),
  )
  if (unknown) throw unknown
}

function notOpen(): Fault {
  return new Fault('notFound', 'Nothing is open at this path; please ask the operator.', { reason: 'not_open' })
}

/** No provider gets the key of a client. */
function refuseKey(query: string, body: string, { key }: Caller): void {
  if (key === undefined || ![query, body].some((text) => text.includes(key) || urlDecoded(text).includes(key))) return
  throw new Fault('invalid', 'Invalid request: it has your key, which no provider may get; please send it in its header alone.')
}

function urlDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Rejects what the head shows to be wrong, before anything is sent. */
function checkRequest({ method, headers, streams }: HttpRequest, { maxBytes }: NativeLane): void {
  const { upgrade, 'idempotency-key': idempotencyKey, 'content-length': length = '0' } = headers
  if (Number(length) > maxBytes) throw new Fault('tooLarge', `The body must have at most ${maxBytes} bytes.`)
  if (idempotencyKey !== undefined)
    throw new Fault('invalid', 'Invalid Idempotency-Key: what is sent here is not known again, so please leave it out.')
  if (upgrade !== undefined) throw new Fault('invalid', 'Invalid Upgrade: the protocol cannot be changed here.')
  if ((method === 'GET' || method === 'HEAD') && announcesBody(headers))
    throw new Fault('invalid', `${method} has no body.`, { reason: 'body_invalid' })
  if (announcesBody(headers) && streams?.isBodyRead()) throw bodyWasRead()
}
