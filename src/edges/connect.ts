/** The provider's edge: a `SwapService` that calls a provider over HTTP in its form. The inverse of `serve`. */
import type { Confidential } from '../domain/faults/confidential.ts'
import { Fault } from '../domain/faults/fault.ts'
import type { Op, Request, ResponseBody } from '../domain/swap/operations.ts'
import type { Context, ServiceResponse, SwapService } from '../domain/swap/service.ts'
import type { Status } from '../domain/swap/status.ts'
import type { Observer, Server } from '../domain/telemetry/observation.ts'
import type { Span } from '../domain/tracing/span.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { Http, HttpRequest } from '../wire/http.ts'
import type { DecodeContext } from '../wire/response.ts'
import { WireError } from '../wire/wire-error.ts'
import { Attempt } from './attempt.ts'
import { callSpans } from './call-span.ts'
import { decodeResponse, readPaged } from './decode-response.ts'
import { toProviderFault } from './provider-error.ts'

export interface Connection {
  readonly form: Form
  readonly http: Http
  /** The provider's tag. */
  readonly provider: string
  readonly server: Server
  /** The key for a call. */
  readonly keyOf: (context: Context) => string | undefined
  /** The meaning of the provider's own statuses. */
  readonly statuses: ReadonlyMap<string, Status>
  readonly confidential: Confidential
  readonly userAgent: string
  readonly observe: Observer
}

/** Throws a `Fault`: `invalid` if the form cannot express the request, `unreadable` if the response does not match the form. */
export function connect(connection: Connection): SwapService {
  const { form, http, provider, server, confidential, observe } = connection
  const decodeContext: DecodeContext = {
    statuses: connection.statuses,
    drift: (field, drift) => observe({ what: 'drift', provider, field, drift }),
  }
  const options = { form, provider, confidential, decodeContext }
  const reportUnreadable = unreadableReporter(decodeContext, provider)
  const beginCall = callSpans(form, provider, server)
  return {
    async call<O extends Op>(op: O, serviceRequest: Request<O>, context: Context): Promise<ServiceResponse<O>> {
      const operation = form.operations[op]
      const key = operation.keyed ? connection.keyOf(context) : undefined
      const encoded = encodeRequest(operation, serviceRequest)
      const span = beginCall(op, context)
      const request = toHttpRequest(encoded, operation, key, context, connection, span)
      const attempt = new Attempt({ operation: op, method: operation.method, provider, server }, context, span)
      try {
        const response = await http(request)
        attempt.setResponse(response)
        if (response.status < 200 || response.status > 299) {
          const amountIn = 'amountIn' in serviceRequest ? serviceRequest.amountIn : undefined
          throw toProviderFault(response, { form, operation, amountIn, provider, confidential, secret: key })
        }
        const body = operation.paged
          ? await readPaged(operation, response.body, options, context)
          : decodeResponse(operation, response.body, options)
        attempt.end(undefined, observe)
        return { body: body as ResponseBody<O>, provider }
      } catch (reason) {
        const fault = reportUnreadable(Fault.from(reason))
        attempt.end(fault, observe)
        throw fault
      }
    },
  }
}

/** Counts an incomplete or too large response as drift, and adds the provider to its fault. Decoding has done both for a whole one. */
function unreadableReporter({ drift }: DecodeContext, provider: string): (fault: Fault) => Fault {
  return (fault) => {
    if (fault.kind !== 'unreadable' || fault.provider !== undefined) return fault
    drift('_other', 'unreadable')
    return fault.with({ provider })
  }
}

type EncodedRequest = ReturnType<OperationCodec['requestCodec']['encode']>

function encodeRequest(operation: OperationCodec, request: object): EncodedRequest {
  try {
    return operation.requestCodec.encode(request)
  } catch (reason) {
    if (!(reason instanceof WireError)) throw reason
    throw new Fault('invalid', reason.message, {
      field: reason.field,
      noEffect: true,
      reason: reason.reason,
      cause: reason,
    })
  }
}

function toHttpRequest(
  encoded: EncodedRequest,
  operation: OperationCodec,
  key: string | undefined,
  context: Context,
  connection: Connection,
  span: Span | undefined,
): HttpRequest {
  const { path, query, body } = encoded
  const { requestId, deadline } = context
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': connection.userAgent,
    'x-request-id': requestId,
  }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (span) headers.traceparent = span.traceparent
  if (key !== undefined) Object.assign(headers, connection.form.credential.encode(key))
  const request = { method: operation.method, path: operation.path.fill(path), query, headers, deadline }
  return body === undefined ? request : { ...request, body: async () => body }
}
