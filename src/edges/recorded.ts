/** Wraps every request: the request id, the server span, the report at the end, and an error response in the client's form. */
import { Fault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import type { Tracing } from '../domain/trace.ts'
import type { Form } from '../wire/form.ts'
import type { Headers, HttpRequest, HttpResponse } from '../wire/http.ts'
import { RequestRecord } from './request-record.ts'
import { beginRequest, endRequest } from './request-span.ts'
import { encodeFault } from './response.ts'

export interface RecordOptions {
  readonly observe: Observer
  readonly tracing?: Tracing | undefined
  /** Tags of the providers with `sandbox: true`; absent: none. */
  readonly sandboxTags?: ReadonlySet<string>
}

type Respond = (record: RequestRecord) => Promise<HttpResponse>

/** Never throws: each fault becomes a response in the form. `vary`: the headers that chose the form. */
export async function recorded(
  request: HttpRequest,
  form: Form,
  vary: string | undefined,
  { observe, tracing, sandboxTags }: RecordOptions,
  respond: Respond,
): Promise<HttpResponse> {
  const span = beginRequest(request, tracing)
  const record = new RequestRecord(form, requestIdOf(request.headers), vary, span, sandboxTags)
  let response: HttpResponse
  try {
    response = await respond(record)
  } catch (reason) {
    record.fault = Fault.from(reason)
    response = encodeFault(record.fault, record)
  }
  record.end(request, response, observe)
  if (span) endRequest(span, request, record, response)
  return response
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/

function requestIdOf(headers: Headers): string {
  const sent = headers['x-request-id']
  return sent !== undefined && requestIdPattern.test(sent) ? sent : crypto.randomUUID()
}
