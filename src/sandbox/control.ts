/** The endpoints under `/sandbox`: what the outside world does to a provider (docs/contract.md §14). */
import { Fault } from '../domain/fault.ts'
import { errorBody } from '../edges/response.ts'
import type { Form } from '../wire/form.ts'
import type { Http, HttpRequest, HttpResponse } from '../wire/http.ts'
import { toStatus } from '../wire/http.ts'
import { depositBody, pay, printReceipt } from './deposit.ts'
import { type FaultInjector, injectedFault } from './faults/injected-fault.ts'
import { readBody } from './request-body.ts'
import type { Sandbox } from './service.ts'

/** Responds with JSON text. */
type Endpoint = (request: HttpRequest) => Promise<string>
type Methods = Readonly<Record<string, Endpoint>>

/** Serves `/sandbox/…` and leaves every other path to `next`. Errors have the body of `form`. */
export function control(next: Http, sandbox: Pick<Sandbox, 'store' | 'pace' | 'clock'>, injector: FaultInjector, form: Form): Http {
  const faults = (): string => JSON.stringify({ faults: injector.all() })
  const endpoints = new Map<string, Methods>([
    ['/sandbox/deposits', { POST: async (request) => printReceipt(pay(await readBody(request, depositBody), sandbox)) }],
    [
      '/sandbox/faults',
      {
        GET: async () => faults(),
        async POST(request) {
          injector.set(await readBody(request, injectedFault))
          return faults()
        },
        async DELETE() {
          injector.clear()
          return faults()
        },
      },
    ],
  ])
  return async (request) => {
    const methods = endpoints.get(request.path)
    return methods && !request.protocolError ? answer(request, methods, form) : next(request)
  }
}

async function answer(request: HttpRequest, methods: Methods, form: Form): Promise<HttpResponse> {
  try {
    return toResponse(200, await choose(request, methods)(request))
  } catch (reason) {
    const { kind, message, allow, reason: word } = Fault.from(reason)
    const status = toStatus(kind)
    return toResponse(status, errorBody(form, status, message), { 'x-swap-reason': word, ...(allow && { allow }) })
  }
}

function choose({ method }: HttpRequest, methods: Methods): Endpoint {
  const endpoint = methods[method]
  if (endpoint) return endpoint
  const allow = Object.keys(methods).join(', ')
  throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
}

function toResponse(status: number, body: string, more: HttpResponse['headers'] = {}): HttpResponse {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...more,
  }
  return { status, headers, body }
}
