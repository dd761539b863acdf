/** What the question says and the answer need not repeat, and what a provider answers instead of a figure. */
import { type Amount, isZero } from '../domain/amount.ts'
import { reasonByLimits } from '../domain/amount-limits.ts'
import type { Confidential } from '../domain/confidential.ts'
import { Fault } from '../domain/fault.ts'
import { publicMessage } from '../domain/message.ts'
import type { Answer, Context } from '../domain/operations.ts'
import type { NewTransaction, Transaction } from '../domain/swap.ts'
import { after, type Layer } from './layer.ts'

/** `fillsMemos`: whether memos count as taken though an answer is silent about them. */
export function question(confidential: Confidential, fillsMemos: boolean): Layer {
  return after({
    getRate: (answer, request, context) => {
      refuseMessage(answer, request.amountIn, context, confidential)
      const { message, rateType = request.rateType } = answer.body
      const shown = message !== undefined && confidential.isIn(message) ? undefined : message
      return { ...answer, body: { ...answer.body, rateType, message: shown } }
    },
    createTransaction: (answer, request) => {
      const body = fillFrom(request, answer.body)
      return { ...answer, body: fillsMemos ? withMemos(request, body) : body }
    },
  })
}

/** A message that stands for the amount received is a refusal to a client whose form cannot show it. */
function refuseMessage(
  { body, provider }: Answer<'getRate'>,
  amountIn: Amount,
  { client }: Context,
  confidential: Confidential,
): void {
  const { message, amountOut } = body
  if (!message) return
  const canShow = client.answers.getRate.has('message') && amountOut !== undefined
  if (canShow || (amountOut !== undefined && !isZero(amountOut))) return
  throw new Fault('invalid', publicMessage(message, confidential), {
    reason: reasonByLimits(amountIn, body),
    ...(provider !== undefined && { provider }),
  })
}

/** What the provider leaves open of a create is as it was asked for, except a memo: one that it lost loses the funds. */
export function fillFrom(asked: NewTransaction, told: Transaction): Transaction {
  return {
    ...told,
    rateType: told.rateType ?? asked.rateType,
    withdrawalAddress: told.withdrawalAddress ?? asked.withdrawalAddress,
    refundAddress: told.refundAddress ?? asked.refundAddress,
  }
}

function withMemos({ withdrawalExtraId, refundExtraId }: NewTransaction, told: Transaction): Transaction {
  return {
    ...told,
    withdrawalExtraId: told.withdrawalExtraId ?? withdrawalExtraId,
    refundExtraId: told.refundExtraId ?? refundExtraId,
  }
}
