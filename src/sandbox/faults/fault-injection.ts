/** Outages as they befall a request, at the edge where a real provider's would. */
import { Fault } from '../../domain/fault.ts'
import type { Op } from '../../domain/service.ts'
import type { FormHandler } from '../../edges/mounts.ts'
import { errorBody } from '../../edges/response.ts'
import { type Matcher, matcher } from '../../edges/serve.ts'
import type { Form } from '../../wire/form.ts'
import type { HttpResponse } from '../../wire/http.ts'
import { printString } from '../../wire/json.ts'
import { DamagedResponse } from '../server.ts'
import type { FaultInjector, InjectedFault } from './injected-fault.ts'

/** Resolves after so many milliseconds. */
export type Pause = (milliseconds: number) => Promise<unknown>

const nothing: HttpResponse = { status: 500, headers: {}, body: '' }

/** The form's handler, with whatever `outages` has for the operation. */
export function injectFaults(served: FormHandler, form: Form, injector: FaultInjector, pause: Pause): FormHandler {
  const match = matcher(form)
  return async (request, mountedRequest) => {
    const op = operationOf(match, request.method, mountedRequest?.path ?? request.path)
    const injected = op && injector.draw(op)
    if (!injected) return served(request, mountedRequest)
    if (injected.latency !== undefined) await pause(injected.latency)
    return errorBeforeEffect(injected, form) ?? damage(await served(request, mountedRequest), injected)
  }
}

function operationOf(match: Matcher, method: string, path: string): Op | undefined {
  try {
    return match(method, path).operation?.op
  } catch (reason) {
    if (reason instanceof Fault) return undefined
    throw reason
  }
}

/** The response of an outage that comes before the effect. */
function errorBeforeEffect({ status, reset }: InjectedFault, form: Form): HttpResponse | undefined {
  if (reset === 'before') return new DamagedResponse('reset', nothing)
  if (status === undefined) return undefined
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers, body: errorBody(form, status, 'This outage is being rehearsed.') }
}

function damage(response: HttpResponse, { reset, truncation, word, silence }: InjectedFault): HttpResponse {
  if (reset) return new DamagedResponse('reset', response)
  if (truncation) return new DamagedResponse('truncation', response)
  if (silence) return new DamagedResponse('silence', response)
  if (word === undefined) return response
  return { ...response, body: response.body.replaceAll(/"status":"[a-z]+"/g, () => `"status":${printString(word)}`) }
}
