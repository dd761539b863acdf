/** A `SwapService` that answers as a test says, and what it was asked. */
import type { Answer, Context, Op, Request, SwapService } from '../../src/domain/operations.ts'
import { formA } from '../../src/forms/a.ts'

export interface Asked {
  readonly op: Op
  readonly request: Request<Op>
  readonly context: Context
}

export interface Scripted extends SwapService {
  readonly asked: Asked[]
}

/** `answer` gives or throws what the service says to the n-th call, from 0. */
export function scripted(answer: (call: number, asked: Asked) => unknown): Scripted {
  const asked: Asked[] = []
  return {
    asked,
    async call<O extends Op>(op: O, request: Request<O>, context: Context): Promise<Answer<O>> {
      const call = { op, request, context } as Asked
      asked.push(call)
      return (await answer(asked.length - 1, call)) as Answer<O>
    },
  }
}

export function contextOf(facts: Partial<Context> = {}): Context {
  return {
    requestId: 'request',
    caller: { address: '192.0.2.1', identity: 'someone' },
    client: formA.vocabulary,
    deadline: performance.now() + 10_000,
    ...facts,
  }
}
