/** Bodies of the sandbox's own endpoints: strict JSON objects whose numbers keep their digits. */
import { z } from 'zod'
import { Fault } from '../domain/fault.ts'
import type { HttpRequest } from '../wire/http.ts'
import { JsonError, JsonNumber, JsonObject, parseJson } from '../wire/json.ts'

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
