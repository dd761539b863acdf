/** A `SwapService` with the responses of a test, and its calls. */
import type { Context, Op, Request, ServiceResponse, SwapService } from '../../src/domain/service.ts'
import { formA } from '../../src/forms/a.ts'

export interface RecordedCall {
  readonly op: Op
  readonly request: Request<Op>
  readonly context: Context
}

export interface Scripted extends SwapService {
  readonly calls: RecordedCall[]
}

/** `response` returns or throws the result of the n-th call, from 0. */
export function scripted(response: (call: number, calls: RecordedCall) => unknown): Scripted {
  const calls: RecordedCall[] = []
  return {
    calls,
    async call<O extends Op>(op: O, request: Request<O>, context: Context): Promise<ServiceResponse<O>> {
      const call = { op, request, context } as RecordedCall
      calls.push(call)
      return (await response(calls.length - 1, call)) as ServiceResponse<O>
    },
  }
}

export function contextOf(facts: Partial<Context> = {}): Context {
  return {
    requestId: 'request',
    caller: { address: '192.0.2.1', identity: 'someone' },
    clientCapabilities: formA.capabilities,
    deadline: performance.now() + 10_000,
    ...facts,
  }
}
