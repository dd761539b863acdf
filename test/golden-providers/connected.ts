/** The edge of a provider's form before a provider that answers as a golden has it. */
import { equal } from 'node:assert/strict'
import { forwardedAddress } from '../../src/domain/call-options.ts'
import { Confidential } from '../../src/domain/confidential.ts'
import { withValue } from '../../src/domain/context-values.ts'
import type { Context, Op } from '../../src/domain/service.ts'
import { swapActions } from '../../src/domain/swap-action.ts'
import type { Connection } from '../../src/edges/call.ts'
import { connect, connectActions } from '../../src/edges/connect.ts'
import type { Http } from '../../src/wire/http.ts'
import type { ProviderForm } from '../../src/wire/provider-form.ts'
import { contextOf } from '../golden/edges.ts'
import type { GoldenRequest, WireRequest, WireResponse } from '../golden/golden.ts'
import type { Exchange, ProviderGolden } from './golden.ts'

export interface Connected {
  readonly sent: readonly WireRequest[]
  readonly outcome: Outcome
  /** What was counted, as `field drift`. */
  readonly drift: readonly string[]
}

export type Outcome =
  | { readonly body: unknown; readonly derived: readonly string[]; readonly awaitsOwner: boolean }
  | { readonly fault: unknown }

/** The response to a call; throws if the call is not expected. */
export type Answer = (request: WireRequest) => WireResponse | Promise<WireResponse>

const providerKey = 'provider-key-7'

export async function callProvider(
  form: ProviderForm,
  request: GoldenRequest,
  settings: ProviderGolden['settings'],
  answer: Answer,
  context: Partial<Context> = withValue({}, forwardedAddress, '8.8.8.8'),
): Promise<Connected> {
  const sent: WireRequest[] = []
  const drift: string[] = []
  const signed = new Set<string>()
  const http: Http = async ({ method, path, query, headers, body }) => {
    const call = { method, path, query, headers: headers as Record<string, string>, body: body ? await body() : '' }
    sent.push(call)
    if (form.credential.isSignature) equal(signed.has(call.body), true, 'the body is what was signed')
    return answer(call)
  }
  const connection: Connection = {
    form,
    http,
    settingsOf: () => settings,
    signer: {
      rsaSha256: (key, text) => {
        signed.add(text)
        return { signature: `signed with ${key}`, keyId: `id of ${key}` }
      },
      hmacSha256: (secret, text) => {
        signed.add(text)
        return `signed with ${secret}`
      },
    },
    secret: 'provider-secret-8',
    provider: 'alpha',
    server: { address: 'alpha.example', port: 443 },
    keyOf: () => request.key ?? providerKey,
    statuses: new Map(),
    confidential: new Confidential({ keys: [], hosts: [], names: ['alpha'] }),
    isOtherPair: () => false,
    userAgent: 'swapgate/test',
    timeoutMs: 10_000,
    observe: (observation) => {
      if (observation.what === 'drift') drift.push(`${observation.field} ${observation.drift}`)
    },
  }
  const service = connect(connection)
  const act = connectActions(connection)
  try {
    const action = swapActions.find((candidate) => candidate === request.op)
    if (action) {
      await act(action, request.fields as never, { ...contextOf(form), ...context })
      return { sent, outcome: { body: {}, derived: [], awaitsOwner: false }, drift }
    }
    const response = await service.call(request.op as Op, request.fields as never, { ...contextOf(form), ...context })
    const { body, derived = [], report: { awaitsOwner = false } = {} } = response
    return { sent, outcome: { body, derived, awaitsOwner }, drift }
  } catch (fault) {
    return { sent, outcome: { fault }, drift }
  }
}

interface Expecting {
  readonly answer: Answer
  readonly paired: ReadonlyMap<WireRequest, Exchange>
}

/** Each call gets the response of the first exchange with its method and path that no call had yet. */
export function expecting(exchanges: readonly Exchange[]): Expecting {
  const paired = new Map<WireRequest, Exchange>()
  const answer: Answer = (call) => {
    const taken = new Set(paired.values())
    const exchange = exchanges.find((candidate) => !taken.has(candidate) && targetOf(candidate.request) === targetOf(call))
    if (!exchange) throw new Error(`${targetOf(call)} is not expected`)
    paired.set(call, exchange)
    return exchange.response
  }
  return { answer, paired }
}

export function targetOf({ method, path }: WireRequest): string {
  return `${method} ${path}`
}
