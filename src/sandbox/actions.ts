/** What the owner of a held swap can do about it: the actions of docs/contract.md §3.11, as a provider has them. */
import { Fault, standardFault } from '../domain/fault.ts'
import type { Answer, Answers } from '../domain/question.ts'
import { type Context, ownerOf, type SwapService } from '../domain/service.ts'
import type { SwapAction, SwapActionRequest } from '../domain/swap-action.ts'
import type { Sandbox } from './service.ts'
import { type Swap, stageOf } from './store.ts'

type SwapAnswer = Answer<'refundTransaction'> & Answer<'continueTransaction'> & Answer<'setRefundAddress'>

export function sandboxActions({ store, pace, clock }: Sandbox, service: SwapService): Required<Pick<Answers, SwapAction>> {
  const answerTo =
    (change: (swap: Swap, request: SwapActionRequest, at: number) => Swap) =>
    async (request: SwapActionRequest, context: Context): Promise<SwapAnswer> => {
      const { id } = request
      const swap = store.find(id)
      if (swap?.owner !== ownerOf(context)) throw standardFault('notFound')
      const at = clock()
      if (stageOf(swap, pace, at).status !== 'held') throw new Fault('invalid', 'The swap is not held.', { reason: 'not_offered' })
      store.update(change(swap, request, at))
      return { body: (await service.call('getTransaction', { id }, context)).body }
    }
  return {
    refundTransaction: answerTo((swap, request, at) => ({
      ...withRefundAddress(swap, request),
      intervention: { status: 'refunded', at },
    })),
    continueTransaction: answerTo((swap, _, at) => ({ ...swap, intervention: { status: 'continued', at } })),
    setRefundAddress: answerTo((swap, request) => withRefundAddress(swap, request)),
  }
}

/** It keeps the one that it has. */
function withRefundAddress(swap: Swap, { refundAddress, refundExtraId }: SwapActionRequest): Swap {
  return swap.refundAddress !== undefined || refundAddress === undefined ? swap : { ...swap, refundAddress, refundExtraId }
}
