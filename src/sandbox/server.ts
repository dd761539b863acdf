/** The port of the sandbox's server. It can also damage a response. */

import { z } from 'zod'
import { admission } from '../core/access/admission.ts'
import { clientLimits, type Limiter } from '../core/access/limits.ts'
import { Fault, standardFault } from '../domain/fault.ts'
import { type Gate, keyed } from '../domain/service.ts'
import type { Http, HttpRequest, HttpResponse } from '../wire/http.ts'
import { JsonError, JsonNumber, JsonObject, parseJson } from '../wire/json.ts'
import type { Digest } from './networks.ts'

/** The damage: the connection is reset, the body breaks off half-way, or nothing is ever sent. */
export type Damage = 'reset' | 'truncation' | 'silence'

/** A response that the client does not get whole. */
export class DamagedResponse implements HttpResponse {
  readonly damage: Damage
  readonly status: number
  readonly headers: HttpResponse['headers']
  readonly body: string

  constructor(damage: Damage, { status, headers, body }: HttpResponse) {
    this.damage = damage
    this.status = status
    this.headers = headers
    this.body = body
  }
}

export interface Server {
  readonly port: number
  readonly close: () => Promise<void>
}

/** Serves on loopback only; 0: any free port. Damages each `DamagedResponse` as it requires. */
export type Listen = (handle: Http, port: number) => Promise<Server>

// Bodies of the sandbox's own endpoints: strict JSON objects whose numbers keep their digits.

/** A number from `least` to `most`. */
export function numberBetween(min: number, max: number) {
  const must = `it must be a number from ${min} to ${max}`
  return z
    .instanceof(JsonNumber, { error: must })
    .transform(({ lexeme }) => Number(lexeme))
    .refine((value) => value >= min && value <= max, must)
}

/** Throws a `Fault` that names the first bad parameter. */
export async function readBody<T extends z.ZodType>(request: HttpRequest, shape: T): Promise<z.output<T>> {
  if (!request.headers['content-type']?.startsWith('application/json')) {
    throw new Fault('unsupportedMediaType', 'The body must be sent as content-type application/json.')
  }
  const { success, data, error } = shape.safeParse(readMembers(await (request.body?.() ?? '')))
  if (success) return data
  const [issue] = error.issues
  const path = issue?.code === 'unrecognized_keys' ? issue.keys : (issue?.path ?? [])
  const message = issue?.code === 'unrecognized_keys' ? 'it is not a parameter here' : (issue?.message ?? '')
  throw new Fault('invalid', `Invalid ${String(path[0] ?? 'request')}: ${message}.`, {
    reason: issue?.code === 'unrecognized_keys' ? 'parameter_unknown' : 'parameter_invalid',
  })
}

function readMembers(text: string): unknown {
  try {
    const body = parseJson(text)
    if (body instanceof JsonObject) return Object.fromEntries(body.keys.map((key, at) => [key, body.values[at]]))
    throw new Fault('invalid', 'The body must be a JSON object.', { reason: 'body_invalid' })
  } catch (reason) {
    if (!(reason instanceof JsonError)) throw reason
    throw new Fault('invalid', `The body must be a JSON object: ${reason.message}.`, { reason: 'body_invalid', cause: reason })
  }
}

// The sandbox's keys are public, so that everyone can start. Any other key is unknown.

export const publicKeys: readonly string[] = ['sandbox-key-1', 'sandbox-key-2']

/** Requests in a minute (docs/service.md §8). */
export interface SandboxLimits {
  readonly quotes: number
  readonly create: number
  readonly read: number
}

/** The key, then the limits of the service. `digest` is what makes a key's identity. */
export function sandboxGate(limiter: Limiter, configured: SandboxLimits, digest: Digest): Gate {
  const known = new Set(publicKeys.map(digest))
  const verifiedKeys = { has: async () => true, add: async () => {} }
  const refusedAddresses = { has: async () => true, add: () => {} }
  const limits = clientLimits({
    limiter,
    configured: { ...configured, unverified: 120, window: 60, dryRun: false },
    refusedAddresses,
    observe: () => {},
  })
  const gate = admission({ limits, refusedAddresses, verifiedKeys, isShed: () => false })
  // Unknown keys have no limit of their own: all clients of a gateway come from one address, and would pause it for each other.
  return async (op, caller, needsKey = keyed.has(op)) => {
    const isUnknownKey = needsKey && !known.has(caller.identity ?? '')
    return isUnknownKey ? { refusal: standardFault('unauthorized') } : gate(op, caller, needsKey)
  }
}
