/** A provider that the caller chooses with `X-Swap-Provider` (docs/contract.md §12). */
import { Fault } from '../../domain/fault.ts'
import type { Context } from '../../domain/service.ts'
import { type Layer, onOperations } from '../layer.ts'

/** Throws `invalid` for a pick that is not in `tags` or comes without a valid key. Only quotes and creates have a pick. */
export function checkPick(tags: ReadonlySet<string>): Layer {
  const check = ({ pick, caller }: Context): void => {
    if (pick !== undefined && (caller.identity === undefined || !tags.has(pick))) throw invalidPick()
  }
  return onOperations({
    async getRate(query, context, next) {
      check(context)
      return await next.call('getRate', query, context)
    },
    async createTransaction(request, context, next) {
      check(context)
      return await next.call('createTransaction', request, context)
    },
  })
}

function invalidPick(): Fault {
  const message = 'Invalid X-Swap-Provider: it must be a provider that you may choose, in a request with your API key.'
  return new Fault('invalid', message, { noEffect: true, reason: 'parameter_invalid' })
}
