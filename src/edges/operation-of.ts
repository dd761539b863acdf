import { Fault } from '../domain/fault.ts'
import type { Op, Request } from '../domain/service.ts'
import type { RateType } from '../domain/swap.ts'
import type { ProviderForm } from '../wire/provider-form.ts'
import type { ProviderOperation } from '../wire/provider-operation.ts'

export function rateTypeOf(request: Request<Op>): RateType | undefined {
  return 'rateType' in request ? request.rateType : undefined
}

/** The form's operation for this request; undefined if the provider has none. */
export function operationOf(form: ProviderForm, op: Op, request: Request<Op>): ProviderOperation | undefined {
  return form.operation(op, rateTypeOf(request))
}

/** Whether the provider has an operation for this request. */
export function isOffered(form: ProviderForm, op: Op, request: Request<Op>): boolean {
  return operationOf(form, op, request) !== undefined
}

/** The `Fault` of a request that the provider can never express. */
export function notOffered(form: ProviderForm, op: Op, request: Request<Op>): Fault {
  const details = { reason: 'not_offered', noEffect: true } as const
  if (!form.operation(op)) return new Fault('invalid', 'The provider does not have this.', details)
  const offered = rateTypeOf(request) === 'float' ? 'fixed' : 'float'
  return new Fault('invalid', `this swap is offered only with ${offered}`, { ...details, field: 'rateType' })
}
