import { Fault } from '../domain/fault.ts'
import { type Layer, on } from './layer.ts'

/**
 * A create ends as done, as refused (certain: nothing was created) or as unknown, never as a mere failure
 * (`spec/contract.md` §10).
 */
export function outcome(): Layer {
  return on({
    async createTransaction(request, context, next) {
      try {
        const answer = await next.call('createTransaction', request, context)
        if (!answer.body.depositAddress) throw new Fault('unreadable', 'There is nowhere to pay to.', answeredBy(answer.provider))
        return answer
      } catch (reason) {
        const fault = Fault.from(reason)
        if (fault.certain || fault.kind === 'internal') throw fault
        const message = 'The outcome is unknown: the transaction may exist. Please look for it in the list before you try again.'
        throw new Fault('outcomeUnknown', message, { cause: fault, ...answeredBy(fault.provider) })
      }
    },
  })
}

function answeredBy(provider: string | undefined): { provider?: string } {
  return provider === undefined ? {} : { provider }
}
