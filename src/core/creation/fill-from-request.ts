/** Fills fields of a response from its request, and handles messages that a provider returns instead of an amount. */
import { type Amount, isZero } from '../../domain/amount.ts'
import type { Confidential } from '../../domain/confidential.ts'
import { Fault, publicMessage, reasonByLimits } from '../../domain/fault.ts'
import type { Context, ServiceResponse } from '../../domain/service.ts'
import type { NewTransaction, Transaction } from '../../domain/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'

/** `fillsMemos`: whether memos count as accepted if the response does not repeat them. Throws `invalid` for a quote with a message only. */
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

/** A message instead of the amount is an error for a client whose form has no field for it. */
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

/** Fills fields that the provider's response to a create lacks from the request. Never a memo: if the provider lost it, the funds are lost. */
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
