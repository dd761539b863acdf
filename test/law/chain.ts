/** A form against itself: `connect(form, serve(form, service))`, with no network between. */
import { Fault } from '../../src/domain/fault.ts'
import type { Op, SwapService } from '../../src/domain/service.ts'
import type { Form } from '../../src/wire/form.ts'
import { known } from '../golden/check.ts'
import { connectForm, contextOf, serveForm } from '../golden/edges.ts'
import type { Fields } from './arbitrary.ts'

export const key = 'chain-key-1'

export interface ReceivedRequest {
  readonly op: Op
  readonly request: unknown
  readonly key: string | undefined
}

export interface Outcome {
  readonly response?: unknown
  readonly fault?: Fault
  /** Requests that the service received. */
  readonly received: readonly ReceivedRequest[]
  /** Requests between the edges. */
  readonly sent: number
}

/** Calls, through both edges of the form, a service that returns or throws what is given. */
export async function sendRequest(form: Form, op: Op, fields: Fields, given: Fields | Fault): Promise<Outcome> {
  const received: ReceivedRequest[] = []
  let sent = 0
  const service: SwapService = {
    async call(called, request, { caller }) {
      received.push({ op: called, request: known(request), key: caller.key })
      if (given instanceof Fault) throw given
      return { body: given as never }
    },
  }
  const served = serveForm(form, service)
  const http: typeof served = (request) => {
    sent++
    return served(request)
  }
  try {
    const { body } = await connectForm(form, http, key, () => {}).call(op, fields as never, contextOf(form))
    return { response: known(body), received, sent }
  } catch (reason) {
    if (!(reason instanceof Fault)) throw reason
    return { fault: reason, received, sent }
  }
}
