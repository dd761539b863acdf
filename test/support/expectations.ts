/** What holds for every response of a kind. */
import { expect } from 'vitest'
import type { ParameterError, Reason } from '../../src/domain/fault.ts'
import type { ReceivedResponse } from './client.ts'
import { digits } from './json.ts'
import type { Client, FormName } from './pair.ts'

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** An error body of the form and the status, and nothing else in it but `known` and the `errors` of its message. Returns the message. */
export function expectErrorBody(json: unknown, form: FormName, status: number, known: object = {}): string {
  const { message } = json as { readonly message: string }
  expect(typeof message).toBe('string')
  expect(message.length).toBeGreaterThan(0)
  const error = form === 'A' ? { error: reasons[status] } : {}
  const { errors } = json as { readonly errors?: readonly ParameterError[] }
  if (errors !== undefined) expect([status, errors.map((each) => each.message).join(' ')]).toEqual([400, message])
  expect(json).toEqual({ ...error, message, code: digits(String(status)), ...known, ...(errors && { errors }) })
  return message
}

/** The limits beside the form's members, which only a refusal for its amount has. */
function limitsIn({ headers, json }: ReceivedResponse): object {
  if (!['below_minimum', 'above_maximum'].includes(String(headers['x-swap-reason']))) return {}
  return Object.fromEntries(Object.entries(json as object).filter(([name]) => name === 'minAmount' || name === 'maxAmount'))
}

/** A refusal as docs/contract.md §6 has it, and this reason if one is given. Returns the message. */
export function expectRefusal(response: ReceivedResponse, form: FormName, status: number, reason?: Reason): string {
  expect([response.status, response.reason], response.text).toEqual([status, reasons[status]])
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(response.headers['cache-control']).toBe('no-store')
  expect(response.headers['x-swap-form']).toBe(form)
  expect(response.headers['x-content-type-options']).toBe('nosniff')
  if (reason !== undefined) expect(response.headers['x-swap-reason'], response.text).toBe(reason)
  expect(response.headers.link).toBe(`</docs#${response.headers['x-swap-reason']}>; rel="help"`)
  expect(response.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,128}$/)
  const { errors } = response.json as { readonly errors?: readonly ParameterError[] }
  if (errors !== undefined) expect(errors[0]?.reason).toBe(response.headers['x-swap-reason'])
  return expectErrorBody(response.json, form, status, limitsIn(response))
}

/** The gateway still responds to an ordinary request. */
export async function expectAlive({ get }: Client): Promise<void> {
  expect((await get('/currencies?size=1')).status).toBe(200)
}
