/** Webhooks of providers, at `/hooks/<tag>/<secret>`: a hint to read transactions, never a fact about them (docs/contract-operators.md §18.5). */
import { withDefault } from '../domain/async.ts'
import { Fault } from '../domain/fault.ts'
import { isSameSecret } from '../domain/same-secret.ts'
import type { Admission } from '../domain/service.ts'
import { isTransactionId } from '../domain/swap.ts'
import type { Form } from '../wire/form.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import { JsonError, JsonNumber, JsonObject, type JsonValue, parseJson } from '../wire/json.ts'
import { baseHeaders } from './encode-response.ts'
import { type ClientEdge, type RequestRecord, recorded } from './record.ts'

export interface ProviderHooks {
  /** By tag. */
  readonly secrets: ReadonlyMap<string, string>
  /** Limits requests by the sender's address. */
  readonly gate: (address: string) => Promise<Admission>
  /** Takes texts of a body that may be ids of the provider's transactions. */
  readonly hint: (tag: string, texts: readonly string[]) => Promise<void>
}

/** `form`: that of errors. */
export type ServeHooks = (request: HttpRequest, form: Form) => Promise<HttpResponse>

const maxBodyBytes = 65_536
/** How long the response waits for the ledger. The hint goes on. */
const ledgerTimeoutMs = 500

/** Never throws. The body decides nothing about the response. */
export function serveHooks(hooks: ProviderHooks, edge: ClientEdge): ServeHooks {
  return (request, form) => recorded(request, form, undefined, edge, (record) => respond(request, record, hooks))
}

async function respond(request: HttpRequest, record: RequestRecord, { secrets, gate, hint }: ProviderHooks): Promise<HttpResponse> {
  if (request.protocolError) throw request.protocolError
  const [, , tag = '', secret = '', ...more] = request.path.split('/')
  record.route = secrets.has(tag) ? `/hooks/${tag}` : '/hooks'
  const { quota, refusal } = await gate(request.address ?? '')
  record.quota = quota
  if (refusal) throw refusal
  const known = secrets.get(tag)
  const isKnown = isSameSecret(secret, known ?? '') && known !== undefined && more.length === 0
  if (!isKnown) throw new Fault('notFound', 'No such path.', { reason: 'path' })
  if (request.method !== 'POST') throw new Fault('methodNotAllowed', 'This path has POST.', { allow: 'POST' })
  await withDefault(hint(tag, await readTexts(request)), ledgerTimeoutMs, undefined)
  return { status: 204, headers: baseHeaders(record, undefined), body: '' }
}

/** Nothing for a body that is too large or cannot be read. */
async function readTexts({ headers, body }: HttpRequest): Promise<readonly string[]> {
  const text = await body?.(maxBodyBytes).catch(() => undefined)
  if (text === undefined) return []
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers['content-type'] ?? '')
  const texts = isForm ? new URLSearchParams(text).values() : textsOf(jsonOf(text))
  return [...new Set(texts.filter(isTransactionId))]
}

function jsonOf(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (reason) {
    if (reason instanceof JsonError) return null
    throw reason
  }
}

/** All texts and numbers, in their order, at any depth. */
function* textsOf(value: JsonValue): Generator<string, void> {
  if (typeof value === 'string') yield value
  else if (value instanceof JsonNumber) yield value.lexeme
  else if (value instanceof JsonObject) for (const member of value.values) yield* textsOf(member)
  else if (Array.isArray(value)) for (const item of value) yield* textsOf(item)
}
