/** Which fields a form always has: each member of a golden is removed, and made null, in turn. */
import { equal, ok } from 'node:assert/strict'
import { Fault } from '../../src/domain/fault.ts'
import type { Form } from '../../src/wire/form.ts'
import { type Connected, callConnected, callServed } from './edges.ts'
import type { Golden, WireRequest } from './golden.ts'

export async function checkAbsences(form: Form, golden: Golden): Promise<void> {
  if (golden.required.request) await checkRequest(form, golden, golden.required.request)
  if (golden.required.response) await checkResponse(form, golden, golden.required.response)
}

/** A parameter that is missing or null is refused by its name if it is required, and else it is not. */
async function checkRequest(form: Form, { request, domainResponse }: Golden, required: ReadonlySet<string>): Promise<void> {
  if (!request) throw new Error('there is no request')
  for (const { name, isNull, changed } of request.body === '' ? withoutParameter(request) : withoutMember(request)) {
    const { response, received } = await callServed(form, changed, domainResponse)
    const isRefused = required.has(name)
    equal(received.length, isRefused ? 0 : 1, `${name} ${isNull ? 'is null' : 'is missing'}`)
    equal(response.status === 400, isRefused, name)
    if (isRefused) ok(response.body.includes(name), `${response.body} does not name ${name}`)
  }
}

interface Changed {
  readonly name: string
  readonly isNull: boolean
  readonly changed: WireRequest
}

function* withoutParameter(request: WireRequest): Generator<Changed> {
  const parameters = request.query.split('&')
  for (const gone of parameters) {
    const query = parameters.filter((parameter) => parameter !== gone).join('&')
    yield { name: gone.split('=')[0] ?? '', isNull: false, changed: { ...request, query } }
  }
}

function* withoutMember(request: WireRequest): Generator<Changed> {
  for (const { name, isNull, text } of variants(request.body, (document) => document)) {
    yield { name, isNull, changed: { ...request, body: text } }
  }
}

/** A field that is absent or null makes a response unreadable if it is required; the row of a list is only left out. */
async function checkResponse(form: Form, { domainRequest, response }: Golden, required: ReadonlySet<string>): Promise<void> {
  if (!domainRequest || !response) throw new Error('there is no response')
  const sendRequest = (body: string): Promise<Connected> => callConnected(form, domainRequest, { ...response, body })
  const whole = JSON.parse(response.body) as Members
  const list = Object.values(whole).find((value) => Array.isArray(value))
  for (const { name, isNull, text } of variants(response.body, (document) => rowOf(document) ?? document)) {
    const { outcome } = await sendRequest(text)
    const what = `${name} ${isNull ? 'is null' : 'is missing'}`
    if (list) equal(itemsOf(outcome), list.length - (required.has(name) ? 1 : 0), what)
    else equal(isUnreadable(outcome), required.has(name), what)
  }
  if (!list) return
  for (const place of [(document: Members) => document, insideOf]) {
    for (const { name, text } of variants(response.body, place)) ok(isUnreadable((await sendRequest(text)).outcome), name)
  }
}

type Members = Record<string, unknown>

interface Variant {
  readonly name: string
  readonly isNull: boolean
  readonly text: string
}

/** The document without each member of the object at the place, and with null instead of it. */
function* variants(text: string, place: (document: Members) => Members | undefined): Generator<Variant> {
  for (const name of Object.keys(place(JSON.parse(text) as Members) ?? {})) {
    for (const isNull of [false, true]) {
      const document = JSON.parse(text) as Members
      const object = place(document) as Members
      if (isNull) object[name] = null
      else delete object[name]
      yield { name, isNull, text: JSON.stringify(document) }
    }
  }
}

/** The first row of a page. */
function rowOf(document: Members): Members | undefined {
  return Object.values(document).find((value) => Array.isArray(value))?.[0] as Members | undefined
}

/** The envelope's inner object. */
function insideOf(document: Members): Members | undefined {
  return Object.values(document).find((value) => typeof value === 'object' && !Array.isArray(value)) as Members | undefined
}

function isUnreadable(outcome: Connected['outcome']): boolean {
  if (!('fault' in outcome)) return false
  ok(outcome.fault instanceof Fault && outcome.fault.kind === 'unreadable', String(outcome.fault))
  return true
}

function itemsOf(outcome: Connected['outcome']): number {
  ok('body' in outcome, 'the page is readable')
  return (outcome.body as { readonly items: readonly unknown[] }).items.length
}
