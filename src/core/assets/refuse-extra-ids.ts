import { Fault } from '../../domain/fault.ts'
import type { ExtraIds } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'

/** Throws `memo_invalid` for a memo or tag that the provider does not support: a lost memo loses the funds (docs/contract.md §3.5). */
export function refuseExtraIds(support: ExtraIds): Layer {
  return onOperations({
    async createTransaction(request, context, next) {
      const field = (['withdrawalExtraId', 'refundExtraId'] as const).find((name) => request[name] !== undefined)
      if (field !== undefined && support === false) {
        const message = 'extra ids are not supported here, and one that is lost loses the funds'
        throw new Fault('invalid', message, { field, noEffect: true, reason: 'memo_invalid' })
      }
      return next.call('createTransaction', request, context)
    },
  })
}
