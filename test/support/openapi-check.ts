/** ajv: compares every response to a client of the tests with the OpenAPI description of its form. */
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { ReceivedResponse } from './client.ts'

interface Operation {
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: object }>>
}

interface Refusal {
  readonly headers: { readonly 'X-Swap-Reason': { readonly schema: { readonly enum: readonly string[] } } }
  readonly content: { readonly 'application/json': { readonly example: { readonly code: number } } }
}

interface Description {
  readonly components: { readonly responses: Readonly<Record<string, Refusal>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const base = 'openapi'
const loaded = new Map<string, { readonly description: Description; readonly ajv: Ajv2020 }>()

/** Reads a description for `JSON.parse`: no object of an exchange may have a member that it does not name, though a later version may add some. */
export function closed(_: string, value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && 'type' in value && value.type === 'object'
  return isObject ? { additionalProperties: false, ...value } : value
}

function read(form: string) {
  const earlier = loaded.get(form)
  if (earlier) return earlier
  const description = JSON.parse(readFileSync(`docs/openapi/${form.toLowerCase()}.json`, 'utf8'), closed) as Description
  // A provider's dates stay unchanged, and some tests have unusual ones.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema(description, base)
  loaded.set(form, { description, ajv })
  return { description, ajv }
}

/** An error whose reason does not belong to its status, or a parameter with no reason of a 400; undefined for other responses. */
function reasonViolation(form: string, { status, headers, text }: ReceivedResponse): string | undefined {
  if (status < 400) return undefined
  const { responses } = read(form).description.components
  const reasonsOf = (code: number): readonly string[] =>
    Object.values(responses).flatMap(({ content, headers: described }) =>
      content['application/json'].example.code === code ? described['X-Swap-Reason'].schema.enum : [],
    )
  const reason = String(headers['x-swap-reason'])
  if (!reasonsOf(status).includes(reason)) return `${status} never has the reason ${reason}`
  const errors = text === '' ? [] : ((JSON.parse(text) as { errors?: unknown }).errors ?? [])
  const unknown = Array.isArray(errors) && errors.find((error) => !reasonsOf(400).includes(error.reason))
  return unknown ? `${status} never has a parameter with the reason ${unknown.reason}` : undefined
}

/** How a response violates the description of the form; `path` begins below the base URL. */
export function openApiViolation(form: string, method: string, path: string, response: ReceivedResponse): string | undefined {
  const { status, text } = response
  const { description, ajv } = read(form)
  const [plain = ''] = path.split('?')
  const pattern = Object.keys(description.paths).find((candidate) => fits(candidate, plain))
  const operation =
    pattern === undefined ? undefined : description.paths[pattern]?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
  if (operation && !(String(status) in operation.responses)) return `${method} ${plain} has no status ${status}`
  const wrong = reasonViolation(form, response)
  if (wrong !== undefined || text === '') return wrong
  const pointer = operation && status < 300 ? responseOf(pattern ?? '', method, status) : '#/components/schemas/Error'
  const validate = ajv.getSchema(base + pointer) as ValidateFunction
  return validate(JSON.parse(text)) ? undefined : `${method} ${plain} ${status}: ${ajv.errorsText(validate.errors)}`
}

function responseOf(pattern: string, method: string, status: number): string {
  const names = ['paths', pattern, method.toLowerCase(), 'responses', String(status), 'content', 'application/json', 'schema']
  return `#/${names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
}

function fits(pattern: string, path: string): boolean {
  const [segments, given] = [pattern.split('/'), path.split('/')]
  return segments.length === given.length && segments.every((segment, at) => segment.startsWith('{') || segment === given[at])
}
