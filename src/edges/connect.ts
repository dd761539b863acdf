/** The provider's edge: a form over HTTP as a `SwapService`. The inverse of `serve`. */
import type { Confidential } from '../domain/confidential.ts'
import { Fault } from '../domain/fault.ts'
import type { Observer, Server } from '../domain/observation.ts'
import type { Answer, Context, Op, Request, Response, SwapService } from '../domain/operations.ts'
import type { Span } from '../domain/span.ts'
import type { Status } from '../domain/status.ts'
import type { Reading } from '../wire/answer.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import type { Http, HttpRequest } from '../wire/http.ts'
import { WireProblem } from '../wire/problem.ts'
import { Attempt } from './attempt.ts'
import { callSpans } from './call-span.ts'
import { readAnswer, readPaged } from './read-answer.ts'
import { toRefusal } from './refusal.ts'

export interface Connection {
  readonly form: Form
  readonly http: Http
  /** The provider's tag. */
  readonly provider: string
  readonly server: Server
  /** The key that a call goes up with. */
  readonly keyOf: (context: Context) => string | undefined
  /** What the provider's own status words mean. */
  readonly statuses: ReadonlyMap<string, Status>
  readonly confidential: Confidential
  readonly userAgent: string
  readonly observe: Observer
}

/** Throws a `Fault`: `invalid` where the form cannot say the question, `unreadable` where the answer is not of the form. */
export function connect(connection: Connection): SwapService {
  const { form, http, provider, server, confidential, observe } = connection
  const reading: Reading = {
    statuses: connection.statuses,
    drift: (field, drift) => observe({ what: 'drift', provider, field, drift }),
  }
  const options = { form, provider, confidential, reading }
  const countBroken = counting(reading, provider)
  const beginCall = callSpans(form, provider, server)
  return {
    async call<O extends Op>(op: O, asked: Request<O>, context: Context): Promise<Answer<O>> {
      const operation = form.operations[op]
      const key = operation.keyed ? connection.keyOf(context) : undefined
      const question = encodeQuestion(operation, asked)
      const span = beginCall(op, context)
      const request = toHttp(question, operation, key, context, connection, span)
      const attempt = new Attempt({ operation: op, method: operation.method, provider, server }, context, span)
      try {
        const response = await http(request).catch(countBroken)
        attempt.answered(response)
        if (response.status < 200 || response.status > 299) {
          const amountIn = 'amountIn' in asked ? asked.amountIn : undefined
          throw toRefusal(response, { form, operation, amountIn, provider, confidential, secret: key })
        }
        const body = operation.paged
          ? await readPaged(operation, response.body, options, context)
          : readAnswer(operation, response.body, options)
        attempt.end(undefined, observe)
        return { body: body as Response<O>, provider }
      } catch (reason) {
        attempt.end(Fault.from(reason), observe)
        throw reason
      }
    },
  }
}

/** An answer that broke off or was too large came all the same: it is counted, and it was this provider's. */
function counting({ drift }: Reading, provider: string): (reason: unknown) => never {
  return (reason) => {
    const fault = Fault.from(reason)
    if (fault.kind !== 'unreadable') throw fault
    drift('_other', 'unreadable')
    throw fault.with({ provider })
  }
}

type Question = ReturnType<OperationCodec['question']['encode']>

function encodeQuestion(operation: OperationCodec, request: object): Question {
  try {
    return operation.question.encode(request as Record<string, unknown>)
  } catch (reason) {
    if (!(reason instanceof WireProblem)) throw reason
    throw new Fault('invalid', reason.message, {
      field: reason.field,
      certain: true,
      reason: reason.reason,
      cause: reason,
    })
  }
}

function toHttp(
  question: Question,
  operation: OperationCodec,
  key: string | undefined,
  context: Context,
  connection: Connection,
  span: Span | undefined,
): HttpRequest {
  const { path, query, body } = question
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
