import { Fault } from '../../domain/faults/fault.ts'
import type { ExtraIds } from '../../domain/swap/extra-ids.ts'
import { type Layer, onOperations } from '../layer.ts'

/** Refuses a memo or tag that the provider may ignore: a lost one loses the funds (docs/contract.md §3.5). */
export function refuseExtraIds(support: ExtraIds): Layer {
  return onOperations({
    async createTransaction(request, context, next) {
      const field = (['withdrawalExtraId', 'refundExtraId'] as const).find((name) => request[name] !== undefined)
      if (field !== undefined && support === false) {
        const message = 'extra ids are not taken here, and one that is lost loses the funds'
        throw new Fault('invalid', message, { field, noEffect: true, reason: 'memo_invalid' })
      }
      return next.call('createTransaction', request, context)
    },
  })
}
