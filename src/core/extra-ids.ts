import { Fault } from '../domain/fault.ts'
import { type Layer, on } from './layer.ts'

/** Refuses a memo or tag that the provider may ignore: a lost one loses the funds (`spec/contract.md` §3, Extra ids). */
export function extraIds(areTaken: boolean): Layer {
  return on({
    async createTransaction(request, context, next) {
      const field = (['withdrawalExtraId', 'refundExtraId'] as const).find((name) => request[name] !== undefined)
      if (field !== undefined && !areTaken) {
        throw new Fault('invalid', 'extra ids are not taken here, and one that is lost loses the funds', {
          field,
          certain: true,
          reason: 'memo_invalid',
        })
      }
      return next.call('createTransaction', request, context)
    },
  })
}
