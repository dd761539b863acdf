/** Outages as they befall a request, at the edge where a real provider's would. */
import { Fault } from '../domain/fault.ts'
import type { Op } from '../domain/operations.ts'
import { type Matcher, matcher } from '../edges/match.ts'
import type { Served } from '../edges/mounts.ts'
import { errorBody } from '../edges/response.ts'
import type { Form } from '../wire/form.ts'
import type { HttpResponse } from '../wire/http.ts'
import { printString } from '../wire/json.ts'
import type { Outage, Outages } from './outage.ts'
import { DamagedResponse } from './server.ts'

/** Resolves after so many milliseconds. */
export type Pause = (milliseconds: number) => Promise<unknown>

const nothing: HttpResponse = { status: 500, headers: {}, body: '' }

/** The form's handler, with whatever `outages` has for the operation. */
export function rehearse(served: Served, form: Form, outages: Outages, pause: Pause): Served {
  const match = matcher(form)
  return async (request, arrival) => {
    const op = operationOf(match, request.method, arrival?.path ?? request.path)
    const outage = op && outages.draw(op)
    if (!outage) return served(request, arrival)
    if (outage.latency !== undefined) await pause(outage.latency)
    return insteadOf(outage, form) ?? damage(await served(request, arrival), outage)
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

/** The answer of an outage that comes before the effect. */
function insteadOf({ status, reset }: Outage, form: Form): HttpResponse | undefined {
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
