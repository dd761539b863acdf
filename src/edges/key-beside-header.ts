/** A key that a form also takes beside its header: as a member of a body and, where the operator allows it, of the query (docs/contract.md §16.2). */
import { Fault } from '../domain/fault.ts'
import type { Credential } from '../wire/credential.ts'
import type { Form } from '../wire/form.ts'
import type { Headers } from '../wire/http.ts'
import { JsonObject, type JsonValue } from '../wire/json.ts'
import { parseBody } from './decode-request.ts'

/** What a request says of its key outside the header. */
export interface KeyBeside {
  /** Undefined where there is none, or none that can be a key. */
  readonly key: string | undefined
  /** Whether there is one that cannot be a key, or that contradicts another one. */
  readonly isMalformed: boolean
  /** Without the key. */
  readonly query: string
  readonly isInQuery: boolean
}

/** A header decides alone; what else the request says of a key must agree with it. */
export function keyBeside(
  query: string,
  /** Of a request without a header; undefined: not read. */
  body: string | undefined,
  headers: Headers,
  { credential, keyMember }: Form,
  keyInQuery: boolean,
): KeyBeside {
  if (keyMember === undefined) return { key: undefined, isMalformed: false, query, isInQuery: false }
  const taken = keyInQuery ? withoutParameter(query, keyMember) : { query, values: [] }
  const values = body === undefined ? taken.values : [...taken.values, ...memberOf(body, keyMember)]
  const [first, ...others] = values.map((value) => keyOf(value, credential))
  const isOne =
    others.every((other) => other === first) && (!isInHeader(headers, credential) || first === credential.decode(headers))
  const isMalformed = values.length > 0 && (first === undefined || !isOne)
  return { key: isMalformed ? undefined : first, isMalformed, query: taken.query, isInQuery: taken.values.length > 0 }
}

/** The body without the key. Throws `unauthorized` for another key than the one by which the caller is known: what is meant is not clear. */
export function withoutKey(body: JsonValue, key: string | undefined, { credential, keyMember }: Form): JsonValue {
  if (keyMember === undefined || !(body instanceof JsonObject)) return body
  const rest = new JsonObject()
  for (const [at, name] of body.keys.entries()) {
    const value = body.values[at] as JsonValue
    if (name !== keyMember) {
      rest.keys.push(name)
      rest.values.push(value)
    } else if (isGiven(value) && (key === undefined || keyOf(value, credential) !== key))
      throw new Fault('unauthorized', `Two keys were sent, in ${credential.name} and as ${keyMember}, and they differ.`)
  }
  return rest
}

export function isInHeader(headers: Headers, { header }: Credential): boolean {
  return headers[header] !== undefined
}

/** A body that cannot be read has no key. */
function memberOf(text: string, name: string): readonly JsonValue[] {
  try {
    const body = parseBody(text)
    const value = body instanceof JsonObject ? body.get(name) : undefined
    return value !== undefined && isGiven(value) ? [value] : []
  } catch {
    return []
  }
}

function isGiven(value: JsonValue): boolean {
  return value !== null && value !== ''
}

function keyOf(value: JsonValue, { header, decode }: Credential): string | undefined {
  return typeof value === 'string' ? decode({ [header]: value }) : undefined
}

/** Whatever way its name is written. */
function withoutParameter(query: string, name: string): { readonly query: string; readonly values: readonly string[] } {
  const parameters = query.split('&').map((text) => ({ text, ...split(text) }))
  const taken = parameters.filter((parameter) => parameter.name === name)
  if (taken.length === 0) return { query, values: [] }
  const rest = parameters.filter((parameter) => parameter.name !== name)
  return { query: rest.map(({ text }) => text).join('&'), values: taken.map(({ value }) => value).filter(isGiven) }
}

/** A text with a broken escape stays as it is: it is no key. */
function split(text: string): { readonly name: string; readonly value: string } {
  const at = text.indexOf('=')
  return at < 0 ? { name: decode(text), value: '' } : { name: decode(text.slice(0, at)), value: decode(text.slice(at + 1)) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
