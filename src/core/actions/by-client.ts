/** The actions of clients on their own swaps (docs/contract.md §3.11). */
import { withValue } from '../../domain/context-values.ts'
import type { Answer, Answers } from '../../domain/question.ts'
import { type Context, ownerOf, type SwapService } from '../../domain/service.ts'
import type { SwapAction, SwapActionRequest } from '../../domain/swap-action.ts'
import { isReadAnew } from '../transactions/ownership.ts'
import { type ActionParts, carryOut } from './act.ts'

type Actions = Required<Pick<Answers, SwapAction>>
/** Of whichever action: the swap. */
type SwapAnswer = Answer<'refundTransaction'> & Answer<'continueTransaction'> & Answer<'setRefundAddress'>

/** `service`: all providers, behind their layers. */
export function clientActions(parts: ActionParts, service: SwapService): Actions {
  const answerTo =
    (action: SwapAction) =>
    async (request: SwapActionRequest, context: Context): Promise<SwapAnswer> => {
      const by = { owner: ownerOf(context), actor: `account:${context.caller.account ?? ownerOf(context)}`, isForced: false }
      const { isRepeated, deadline } = await carryOut(action, request, by, context, parts)
      const within = withValue({ ...context, deadline }, isReadAnew, true)
      const response = await service.call('getTransaction', { id: request.id }, within)
      const { body, provider, derived, staleSeconds } = response
      return { body, provider, derived, staleSeconds, ...(isRepeated && { replay: {} }) }
    }
  return {
    refundTransaction: answerTo('refundTransaction'),
    continueTransaction: answerTo('continueTransaction'),
    setRefundAddress: answerTo('setRefundAddress'),
  }
}
