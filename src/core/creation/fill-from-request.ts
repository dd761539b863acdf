/** What the question says and the answer need not repeat, and what a provider answers instead of a figure. */
import { type Amount, isZero } from '../../domain/amount.ts'
import { reasonByLimits } from '../../domain/faults/amount-limits.ts'
import type { Confidential } from '../../domain/faults/confidential.ts'
import { Fault } from '../../domain/faults/fault.ts'
import { publicMessage } from '../../domain/faults/public-message.ts'
import type { Context, ServiceResponse } from '../../domain/swap/service.ts'
import type { NewTransaction, Transaction } from '../../domain/swap/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'

/** `fillsMemos`: whether memos count as taken though an answer is silent about them. */
export function fillFromRequest(confidential: Confidential, fillsMemos: boolean): Layer {
  return mapResponses({
    getRate: (response, request, context) => {
      refuseMessage(response, request.amountIn, context, confidential)
      const { message, rateType = request.rateType } = response.body
      const presented = message !== undefined && confidential.containsWord(message) ? undefined : message
      return { ...response, body: { ...response.body, rateType, message: presented } }
    },
    createTransaction: (response, request) => {
      const body = fillTransaction(request, response.body)
      return { ...response, body: fillsMemos ? withMemos(request, body) : body }
    },
  })
}

/** A message that stands for the amount received is a refusal to a client whose form cannot show it. */
function refuseMessage(
  { body, provider }: ServiceResponse<'getRate'>,
  amountIn: Amount,
  { clientCapabilities: client }: Context,
  confidential: Confidential,
): void {
  const { message, amountOut } = body
  if (!message) return
  const canShow = client.responseFields.getRate.has('message') && amountOut !== undefined
  if (canShow || (amountOut !== undefined && !isZero(amountOut))) return
  throw new Fault('invalid', publicMessage(message, confidential), {
    reason: reasonByLimits(amountIn, body),
    ...(provider !== undefined && { provider }),
  })
}

/** What the provider leaves open of a create is as it was asked for, except a memo: one that it lost loses the funds. */
export function fillTransaction(request: NewTransaction, response: Transaction): Transaction {
  return {
    ...response,
    rateType: response.rateType ?? request.rateType,
    withdrawalAddress: response.withdrawalAddress ?? request.withdrawalAddress,
    refundAddress: response.refundAddress ?? request.refundAddress,
  }
}

function withMemos({ withdrawalExtraId, refundExtraId }: NewTransaction, response: Transaction): Transaction {
  return {
    ...response,
    withdrawalExtraId: response.withdrawalExtraId ?? withdrawalExtraId,
    refundExtraId: response.refundExtraId ?? refundExtraId,
  }
}
