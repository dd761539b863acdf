import { Fault } from '../domain/faults/fault.ts'
import type { Op, Request } from '../domain/swap/operations.ts'
import type { RateType } from '../domain/swap/swap.ts'
import type { ProviderForm } from '../wire/provider/form.ts'
import type { ProviderOperation } from '../wire/provider/operation.ts'

export function rateTypeOf(request: Request<Op>): RateType | undefined {
  return 'rateType' in request ? request.rateType : undefined
}

/** The form's operation for this request. Throws `invalid` if the provider has none: it can never express the request. */
export function operationOf(form: ProviderForm, op: Op, request: Request<Op>): ProviderOperation {
  const rateType = rateTypeOf(request)
  const operation = form.operation(op, rateType)
  if (operation) return operation
  const details = { reason: 'not_offered', noEffect: true } as const
  if (!form.operation(op)) throw new Fault('invalid', 'The provider does not have this.', details)
  const offered = rateType === 'float' ? 'fixed' : 'float'
  throw new Fault('invalid', `this swap is offered only with ${offered}`, { ...details, field: 'rateType' })
}
