/** The two edges of a form with everything else taken away: the input, the output, and what was received between. */

import { Confidential } from '../../src/domain/confidential.ts'
import { Fault } from '../../src/domain/fault.ts'
import { type Answers, questionNames } from '../../src/domain/question.ts'
import type { Context, Op, SwapService } from '../../src/domain/service.ts'
import { connect } from '../../src/edges/connect.ts'
import { serve } from '../../src/edges/serve.ts'
import type { Form } from '../../src/wire/form.ts'
import type { Http, HttpRequest, HttpResponse } from '../../src/wire/http.ts'
import { providerFormOf } from '../../src/wire/provider-form.ts'
import type { GoldenRequest, GoldenResponse, WireRequest, WireResponse } from './golden.ts'

export interface Served {
  readonly response: HttpResponse
  /** The requests that the service received. */
  readonly received: readonly GoldenRequest[]
}

/** The form's client edge over a service with a given response; without one it may not be called. */
export async function callServed(form: Form, request: WireRequest, domainResponse: GoldenResponse | undefined): Promise<Served> {
  const received: GoldenRequest[] = []
  const service: SwapService = {
    async call(op, fields, { caller }) {
      received.push({ op, key: caller.key, fields: { ...fields } })
      return throwFault(domainResponse)
    },
  }
  const answers = Object.fromEntries(
    questionNames.map((op) => [
      op,
      async (fields: object, { caller }: Context) => {
        received.push({ op, key: caller.key, fields: { ...fields } })
        return throwFault(domainResponse)
      },
    ]),
  ) as Answers
  const handle = serveForm(form, service, answers)
  return { response: await handle(toHttp(request)), received }
}

/** The form's client edge with no limits, counting nothing. */
export function serveForm(form: Form, service: SwapService, answers?: Answers): Http {
  const edge = { gate: async () => ({}), identify: async (key: string) => ({ identity: `holder of ${key}` }), observe: () => {} }
  return serve(form, service, edge, { answers })
}

function throwFault(domainResponse: GoldenResponse | undefined): never {
  if (domainResponse === undefined) throw new Error('the service may not be called')
  const { fault, body, derived, provider, stale, replayed, warning } = domainResponse
  if (fault === undefined)
    return {
      body,
      derived,
      staleSeconds: stale,
      ...(replayed && { replay: {} }),
      warning,
      ...(provider !== undefined && { provider }),
    } as never
  const { message = '', ...details } = body as { readonly message?: string }
  throw new Fault(fault, message, { ...details, ...(provider !== undefined && { provider }) })
}

function toHttp({ method, path, query, headers, body }: WireRequest): HttpRequest {
  return { method, path, query, headers, body: async () => body }
}

export interface Connected {
  readonly sent: readonly WireRequest[]
  /** What the service returned, or threw. */
  readonly outcome: { readonly body: unknown } | { readonly fault: unknown }
  /** What was counted, as `field drift`. */
  readonly drift: readonly string[]
}

const providerKey = 'provider-key-7'

/** The form's provider edge before a provider with a given response. */
export async function callConnected(
  form: Form,
  domainRequest: GoldenRequest,
  response: WireResponse | undefined,
): Promise<Connected> {
  const sent: WireRequest[] = []
  const drift: string[] = []
  const http: Http = async ({ method, path, query, headers, body }) => {
    sent.push({ method, path, query, headers: headers as Record<string, string>, body: body ? await body() : '' })
    if (!response) throw new Error('nothing may be sent')
    return response
  }
  const service = connectForm(form, http, domainRequest.key ?? providerKey, (field, what) => drift.push(`${field} ${what}`))
  try {
    const { body } = await service.call(domainRequest.op as Op, domainRequest.fields as never, contextOf(form))
    return { sent, outcome: { body }, drift }
  } catch (fault) {
    return { sent, outcome: { fault }, drift }
  }
}

/** The form's provider edge; public operations are offered the key, too. The operator explains one word, `on_hold`. */
export function connectForm(form: Form, http: Http, key: string, drift: (field: string, what: string) => void): SwapService {
  return connect({
    form: providerFormOf(form),
    http,
    settingsOf: () => ({}),
    signer: { rsaSha256: () => ({ signature: '', keyId: '' }), hmacSha256: () => '' },
    secret: '',
    provider: 'alpha',
    server: { address: 'alpha.example', port: 443 },
    keyOf: () => key,
    statuses: new Map([['on_hold', 'exchanging']]),
    confidential: new Confidential({ keys: [], hosts: [], names: ['alpha'] }),
    isOtherPair: () => false,
    userAgent: 'swapgate/test',
    timeoutMs: 10_000,
    observe: (observation) => {
      if (observation.what === 'drift') drift(observation.field, observation.drift)
    },
  })
}

export function contextOf(form: Pick<Form, 'capabilities'>): Context {
  return {
    requestId: 'request-1',
    caller: { address: '192.0.2.1' },
    clientCapabilities: form.capabilities,
    deadline: Number.POSITIVE_INFINITY,
  }
}
