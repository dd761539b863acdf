/** The endpoints under `/sandbox`: what the outside world does to a provider (docs/contract-operators.md §14). */

import { z } from 'zod'
import { type Amount, isPositive, toAmount } from '../domain/amount.ts'
import { Fault, faultTable } from '../domain/fault.ts'
import type { SandboxEvent, SandboxOutcome } from '../domain/sandbox-event.ts'
import { errorBody } from '../edges/encode-response.ts'
import type { Form } from '../wire/form.ts'
import type { Http, HttpRequest, HttpResponse } from '../wire/http.ts'
import { JsonNumber, printString } from '../wire/json.ts'
import { type FaultInjector, injectedFault } from './faults.ts'
import { readBody } from './server.ts'
import type { Sandbox } from './service.ts'
import { stageOf } from './store.ts'

type ControlledSandbox = Pick<Sandbox, 'store' | 'pace' | 'clock'>

/** Responds with JSON text. */
type Endpoint = (request: HttpRequest) => Promise<string>
type Methods = Readonly<Record<string, Endpoint>>

/** Serves `/sandbox/…` and leaves every other path to `next`. Errors have the body of `form`. */
export function control(next: Http, sandbox: ControlledSandbox, injector: FaultInjector, form: Form): Http {
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
    const { status } = faultTable[kind]
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

// A deposit on the simulated chain.

const mustBeAmount = 'it must be a number above 0'

/** Default: the requested amount. */
const depositBody = z.strictObject({
  depositAddress: z.string('it must be a text'),
  amount: z
    .instanceof(JsonNumber, { error: mustBeAmount })
    .transform(({ lexeme }) => toAmount(lexeme))
    .refine((amount): amount is Amount => amount !== undefined && isPositive(amount), mustBeAmount)
    .optional(),
})

// What a client lets happen on the gateway's own port.

/** The swap's owner is known. */
export function drive(id: string, event: SandboxEvent, { store, pace, clock }: ControlledSandbox): SandboxOutcome {
  const swap = store.find(id)
  if (!swap) return 'absent'
  const at = clock()
  const { status, deposit } = stageOf(swap, pace, at)
  if (status === 'success' || status === 'refunded') return 'ended'
  if (event === 'pay' && deposit) return 'paid'
  if (event === 'refund' && !deposit) return 'unpaid'
  store.update(
    event === 'pay' ? { ...swap, deposit: { amount: swap.amountIn, at } } : { ...swap, intervention: { status: ends[event], at } },
  )
  return 'done'
}

const ends = { hold: 'held', fail: 'failed', refund: 'refunded' } as const

interface Receipt {
  readonly id: string
  readonly depositAddress: string
  readonly amount: Amount
}

/** Pays the swap that waits at this address. Throws `notFound` where none does, `invalid` where it is paid already. */
function pay({ depositAddress, amount }: z.output<typeof depositBody>, { store, pace, clock }: ControlledSandbox): Receipt {
  const swap = store.findByDepositAddress(depositAddress)
  if (!swap) throw new Fault('notFound', 'No transaction has this deposit address.')
  const at = clock()
  if (stageOf(swap, pace, at).deposit) throw new Fault('invalid', 'This transaction has its deposit already.')
  const deposit = { amount: amount ?? swap.amountIn, at }
  store.update({ ...swap, deposit })
  return { id: swap.id, depositAddress, amount: deposit.amount }
}

/** JSON in which the amount keeps its digits. */
function printReceipt({ id, depositAddress, amount }: Receipt): string {
  return `{"id":${printString(id)},"depositAddress":${printString(depositAddress)},"amount":${amount}}`
}
