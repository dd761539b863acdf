/** Outages as they befall a request, at the edge where a real provider's would. */

import { z } from 'zod'
import { Fault } from '../domain/fault.ts'
import { type Op, ops } from '../domain/service.ts'
import { swapActions } from '../domain/swap-action.ts'
import { errorBody } from '../edges/encode-response.ts'
import { type Match, type Router, router } from '../edges/router.ts'
import type { FormHandler } from '../edges/serve.ts'
import type { Form } from '../wire/form.ts'
import type { HttpResponse } from '../wire/http.ts'
import { printString } from '../wire/json.ts'
import { type Outage as RehearsedOutage, requestedOutage } from './rehearsals.ts'
import { DamagedResponse, numberBetween } from './server.ts'

/** Resolves after so many milliseconds. */
export type Pause = (milliseconds: number) => Promise<unknown>

const nothing: HttpResponse = { status: 500, headers: {}, body: '' }

/** The form's handler, with whatever was set for the operation, else with what the amount of the request rehearses. */
export function injectFaults(
  served: FormHandler,
  form: Form,
  injector: FaultInjector,
  pause: Pause,
  outageOfAction: (id: string) => RehearsedOutage | undefined,
): FormHandler {
  const route = router(form, [], new Set(swapActions))
  return async (request, mountedRequest) => {
    const { endpoint, path } = matchOf(route, request.method, mountedRequest?.path ?? request.path)
    if (endpoint && 'question' in endpoint) {
      const rehearsed = outageOfAction(path.id ?? '')
      if (!rehearsed) return served(request, mountedRequest)
      return errorBeforeEffect(rehearsed, form) ?? damage(await served(request, mountedRequest), rehearsed)
    }
    if (!endpoint || !('op' in endpoint)) return served(request, mountedRequest)
    const { op } = endpoint
    const { outage, request: readRequest } = await requestedOutage(request, op, form)
    const injected = injector.draw(op) ?? outage
    if (!injected) return served(readRequest, mountedRequest)
    if (injected.latency !== undefined) await pause(injected.latency)
    return errorBeforeEffect(injected, form) ?? damage(await served(readRequest, mountedRequest), injected)
  }
}

function matchOf(route: Router, method: string, path: string): Pick<Match, 'endpoint' | 'path'> {
  try {
    return route(method, path)
  } catch (reason) {
    if (reason instanceof Fault) return { endpoint: undefined, path: {} }
    throw reason
  }
}

/** The response of an outage that comes before the effect. */
function errorBeforeEffect({ status, reset }: Outage, form: Form): HttpResponse | undefined {
  if (reset === 'before') return new DamagedResponse('reset', nothing)
  if (status === undefined) return undefined
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers, body: errorBody(form, status, 'This outage is being rehearsed.') }
}

function damage(response: HttpResponse, { reset, truncation, word, silence }: Outage): HttpResponse {
  if (reset) return new DamagedResponse('reset', response)
  if (truncation) return new DamagedResponse('truncation', response)
  if (silence) return new DamagedResponse('silence', response)
  if (word === undefined) return response
  return { ...response, body: response.body.replaceAll(/"status":"[a-z]+"/g, () => `"status":${printString(word)}`) }
}

// Outages to rehearse: what goes wrong, for which operation, how often.

const maxLatencyMs = 60_000
const isSet = z.literal(true, 'it must be true')
const effects = ['status', 'reset', 'truncation', 'word', 'silence'] as const

/** One outage: a latency in milliseconds, one way to end, or both. */
export const injectedFault = z
  .strictObject({
    operation: z.enum(['all', ...ops], `it must be all or one of ${ops.join(', ')}`).default('all'),
    share: numberBetween(0, 1).default(1),
    latency: numberBetween(0, maxLatencyMs).optional(),
    /** An error status instead of the effect. */
    status: numberBetween(400, 599).refine(Number.isInteger, 'it must be an integer').optional(),
    /** The connection is reset before or after the effect. */
    reset: z.enum(['before', 'after'], 'it must be before or after').optional(),
    /** The response breaks off half-way, after the effect. */
    truncation: isSet.optional(),
    /** Stands where the status of a transaction stood. */
    word: z.string('it must be a text').optional(),
    /** The effect happens and no response ever comes. */
    silence: isSet.optional(),
  })
  .refine(({ latency, ...fault }) => latency !== undefined || effects.some((effect) => fault[effect] !== undefined), {
    error: `it must say latency or one of ${effects.join(', ')}`,
  })
  .refine((fault) => effects.filter((effect) => fault[effect] !== undefined).length <= 1, {
    error: `it must say only one of ${effects.join(', ')}`,
  })

type InjectedFault = z.output<typeof injectedFault>
type Outage = Pick<InjectedFault, 'latency' | (typeof effects)[number]>

export interface FaultInjector {
  /** Takes the place of what was set for the same operation. */
  readonly set: (injectedFault: InjectedFault) => void
  readonly all: () => readonly InjectedFault[]
  readonly clear: () => void
  /** What befalls this request: an operation's own outage goes before that of all. */
  readonly draw: (op: Op) => InjectedFault | undefined
}

/** `random` gives numbers from 0 to below 1. */
export function faultInjector(random: () => number): FaultInjector {
  const byOperation = new Map<InjectedFault['operation'], InjectedFault>()
  return {
    set: (fault) => void byOperation.set(fault.operation, fault),
    all: () => [...byOperation.values()],
    clear: () => byOperation.clear(),
    draw(op) {
      const fault = byOperation.get(op) ?? byOperation.get('all')
      return fault && random() < fault.share ? fault : undefined
    },
  }
}
