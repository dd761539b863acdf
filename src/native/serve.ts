/** The client's edge of the native lane: a provider's own endpoints for clients with an issued key (docs/contract.md §11). */
import type { AbsentSwaps } from '../domain/absent-swaps.ts'
import { Fault, standardFault } from '../domain/fault.ts'
import { countedAs, findOpenPath, namedSwaps, type OpenPath, type SwapsNamed } from '../domain/native.ts'
import type { Caller } from '../domain/service.ts'
import { admit } from '../edges/admit.ts'
import type { NativeMount, ServeNative } from '../edges/mounts.ts'
import { type ClientEdge, type RequestRecord, recorded } from '../edges/record.ts'
import { bodyWasRead, type HttpRequest, type HttpResponse } from '../wire/http.ts'
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
  const caller = await admit(request, mount, countedAs(openPath.method), record, edge)
  checkRequest(request, lane)
  refuseKeyInQuery(request.query, caller)
  await refuseOtherSwaps(openPath, below, request.query, caller, tag, swapsNamed, absentSwaps)
  if (lane.isOff) throw standardFault('unavailable', { retryAfter: offRetryAfter, effect: 'refused' })
  return callNative(lane, openPath, below, { request, caller, record }, edge.observe)
}

/** Throws for a path or query that names a swap of another owner, or one that may be. Bodies stream by and are not looked into. */
async function refuseOtherSwaps(
  openPath: OpenPath,
  path: string,
  query: string,
  { identity = '' }: Caller,
  provider: string,
  swapsNamed: SwapsNamed,
  absentSwaps: AbsentSwaps,
): Promise<void> {
  const { own, other } = namedSwaps(openPath, path, query)
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
function refuseKeyInQuery(query: string, { key }: Caller): void {
  if (key === undefined || !(query.includes(key) || decodedQuery(query).includes(key))) return
  throw new Fault('invalid', 'Invalid query: it has your key, which no provider may get; please send it in its header alone.')
}

function decodedQuery(query: string): string {
  try {
    return decodeURIComponent(query.replaceAll('+', ' '))
  } catch {
    return query
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
