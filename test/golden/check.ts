/** The checks of a golden, as plain functions that throw: the tests and the mutation run both call them. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { Fault } from '../../src/domain/fault.ts'
import type { Form } from '../../src/wire/form.ts'
import { checkAbsences } from './absence.ts'
import { sameDocument } from './document.ts'
import { callConnected, callServed } from './edges.ts'
import type { Golden, GoldenResponse, WireRequest } from './golden.ts'

/** Throws if an edge of the form does not do what the golden has. */
export async function checkGolden(form: Form, golden: Golden): Promise<void> {
  if (golden.only !== 'connect') await checkServe(form, golden)
  if (golden.only !== 'serve') await checkConnect(form, golden)
  await checkAbsences(form, golden)
}

/** The client's edge: the service gets exactly the domain request, and its domain response is encoded as exactly the response. */
export async function checkServe(
  form: Form,
  { request, domainRequest, domainResponse, response: expected }: Golden,
): Promise<void> {
  if (!request || !expected) throw new Error('the client edge needs a request and a response')
  const { response, received } = await callServed(form, request, domainResponse)
  equal(response.status, expected.status, response.body)
  sameDocument(response.body, expected.body)
  deepEqual(known(received), known(domainRequest ? [domainRequest] : []))
  equal(response.headers['content-type'], 'application/json; charset=utf-8')
  for (const [name, value] of Object.entries(expected.headers)) equal(response.headers[name], value, name)
  for (const name of ['x-swap-omitted', 'x-swap-derived', 'x-swap-stale', 'idempotent-replayed'])
    equal(response.headers[name], expected.headers[name], name)
}

/**
 * The provider's edge: the domain request is encoded as exactly the request, and the response is decoded as exactly the domain
 * response.
 */
export async function checkConnect(form: Form, { request, domainRequest, domainResponse, response }: Golden): Promise<void> {
  if (!domainRequest || !domainResponse) throw new Error('the provider edge needs a question and an answer')
  const { sent, outcome } = await callConnected(form, domainRequest, response)
  if (domainResponse.fault === undefined)
    deepEqual(known(outcome), {
      body: 'items' in domainResponse.body ? { dropped: 0, ...domainResponse.body } : domainResponse.body,
    })
  else checkFault(outcome, domainResponse)
  equal(sent.length, request ? 1 : 0)
  if (request) sameRequest(sent[0] as WireRequest, request)
}

function checkFault(outcome: object, { fault: kind, body }: GoldenResponse): void {
  ok('fault' in outcome && outcome.fault instanceof Fault, `a Fault was expected, not ${JSON.stringify(outcome)}`)
  const { fault } = outcome
  equal(fault.kind, kind, fault.message)
  for (const [name, value] of Object.entries(body)) deepEqual(fault[name as keyof Fault], value, name)
}

/** Headers of the caller, not of the request. */
const unsent: ReadonlySet<string> = new Set(['accept', 'accept-encoding', 'user-agent', 'x-request-id'])

export function sameRequest(sent: WireRequest, expected: WireRequest): void {
  equal(`${sent.method} ${sent.path}`, `${expected.method} ${expected.path}`)
  deepEqual(parameters(sent.query), parameters(expected.query))
  deepEqual(comparableHeaders(sent), comparableHeaders(expected))
  if (expected.body === '') equal(sent.body, '')
  else sameDocument(sent.body, expected.body)
}

/** Without the fields that are undefined: in the domain they mean the same as absent ones. */
export function known(value: object): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** In any order, each as often as it was sent. */
function parameters(query: string): readonly string[] {
  return [...new URLSearchParams(query)].map(([name, value]) => `${name}=${value}`).sort()
}

function comparableHeaders({ headers }: WireRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !unsent.has(name)))
}

/** What a form is besides its exchanges (docs/service.md §4.4, §5). */
export interface Promises {
  readonly name: string
  /** The header of the credential, as it is written. */
  readonly header: string
  readonly newestFirst: boolean
  readonly hasExpectedAmount: boolean
  /** Whether a key of its header chooses it on the bare mount. */
  readonly isChosenByKey: boolean
  /** Whether its clients may send an `Idempotency-Key`, so that an operator may require one. */
  readonly hasIdempotencyKey: boolean
}

export function checkPromises(form: Form, promises: Promises): void {
  const { name, credential, capabilities, isChosenByKey, hasIdempotencyKey } = form
  const { newestFirst, hasExpectedAmount } = capabilities
  deepEqual({ name, header: credential.name, newestFirst, hasExpectedAmount, isChosenByKey, hasIdempotencyKey }, promises)
}
