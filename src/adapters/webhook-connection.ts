/**
 * undici: posts to receivers of webhooks. Each attempt has a connection of its own, to an address that was judged a moment ago: the one
 * connected to is one of those that were judged, whatever the name says next.
 */
import type { LookupAddress } from 'node:dns'
import type { LookupFunction, Socket } from 'node:net'
import { buildConnector, Client } from 'undici'
import type { Attempt } from '../core/ports/webhooks.ts'
import { unreachableCauseOf } from '../domain/failure-cause.ts'
import { type AllowedTargets, mayLeadTo } from '../domain/webhook-target.ts'
import { withoutContinue } from '../wire/interim-responses.ts'

/** The way out, and what is open on it. */
export interface WebhookWay {
  readonly lookup: LookupFunction
  readonly allowed: AllowedTargets
  /** Opens a connection through the operator's proxy: then nothing is judged. */
  readonly tunnel?: ((host: string, port: number) => Promise<Socket>) | undefined
  /** For the head of the response; ten seconds by default. */
  readonly headTimeoutMs?: number | undefined
}

export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const defaultHeadTimeoutMs = 10_000
/** For as much of the body as is read, once its head is there. */
const bodyTimeoutMs = 2_000
const maxBodyBytes = 4_096
const maxKeptCharacters = 200

/** Never rejects, and follows no redirect. */
export async function postWebhook({ url, headers, body }: WebhookRequest, way: WebhookWay): Promise<Attempt> {
  const { allowed, tunnel, headTimeoutMs = defaultHeadTimeoutMs } = way
  const target = new URL(url)
  const at = Date.now()
  const begunAt = performance.now()
  const outcome = (rest: Pick<Attempt, 'status' | 'body' | 'reason'>): Attempt => ({
    at,
    ms: Math.round(performance.now() - begunAt),
    ...rest,
  })
  if (!tunnel && !mayLeadTo(target, allowed)) return outcome({ status: null, body: null, reason: 'address' })
  const client = new Client(target.origin, { connect: connectorFor(target, way), allowH2: false, pipelining: 0 })
  const deadline = AbortSignal.timeout(headTimeoutMs)
  try {
    const response = await client.request({
      method: 'POST',
      path: target.pathname + target.search,
      headers: { ...headers, 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body,
      headersTimeout: 0,
      bodyTimeout: bodyTimeoutMs,
      signal: deadline,
    })
    const known = outcome({ status: response.statusCode, body: null })
    return { ...known, body: await firstCharacters(response.body) }
  } catch (error) {
    return outcome({ status: null, body: null, reason: reasonOf(error, deadline) })
  } finally {
    void client.destroy().catch(() => {})
  }
}

function reasonOf(error: unknown, deadline: AbortSignal): string {
  if (error instanceof ClosedAddress) return 'address'
  return deadline.aborted ? 'timed_out' : unreachableCauseOf(error)
}

/** One of the addresses of a name is neither public nor open. */
class ClosedAddress extends Error {}

function connectorFor({ protocol }: URL, { lookup, allowed, tunnel, headTimeoutMs }: WebhookWay): buildConnector.connector {
  const isJudged = protocol === 'https:' && !tunnel
  const connect = buildConnector({
    timeout: headTimeoutMs ?? defaultHeadTimeoutMs,
    lookup: isJudged ? judged(lookup, allowed) : lookup,
    allowH2: false,
    // Also where a variable of the environment says otherwise.
    rejectUnauthorized: true,
  })
  if (!tunnel) return (options, callback) => connect(options, passing(callback))
  return (options, done) => {
    const callback = passing(done)
    const isEncrypted = options.protocol === 'https:'
    tunnel(options.hostname, Number(options.port) || (isEncrypted ? 443 : 80)).then(
      (httpSocket) => (isEncrypted ? connect({ ...options, httpSocket }, callback) : callback(null, httpSocket)),
      (error: Error) => callback(error, null),
    )
  }
}

function passing(callback: buildConnector.Callback): buildConnector.Callback {
  return (...[error, socket]) => (error ? callback(error, null) : callback(null, withoutContinue(socket)))
}

/** Looks up all addresses of a name, and gives them only if each of them may be connected to. */
function judged(lookup: LookupFunction, { hasAddress }: AllowedTargets): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, family: 0, all: true }, (error, found) => {
      const addresses = found as unknown as LookupAddress[]
      const [first] = addresses ?? []
      if (error || !first) callback(error ?? new ClosedAddress(), [])
      else if (!addresses.every(({ address }) => hasAddress(address))) callback(new ClosedAddress(), [])
      else if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
}

/** Of as many bytes as are read; what comes later, or does not come, is nobody's concern. */
async function firstCharacters(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  const end = performance.now() + bodyTimeoutMs
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= maxBodyBytes || performance.now() > end) break
    }
  } catch {}
  const text = Buffer.concat(chunks).toString('utf8', 0, maxBodyBytes)
  return [...text].slice(0, maxKeptCharacters).join('')
}
