/** A create whose response leaves open what must be known is confirmed by a get before its result counts (docs/contract.md §3.3, §3.5). */
import { memoOf } from '../../domain/address/same-address.ts'
import { type Amount, isZero } from '../../domain/amount.ts'
import { fold } from '../../domain/asset.ts'
import type { Confidential } from '../../domain/confidential.ts'
import { Fault, publicMessage, reasonByAmountRange } from '../../domain/fault.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { NewTransaction, Pair, Transaction } from '../../domain/swap.ts'
import { assetNameOf, from, type Side, to } from '../assets/asset-naming.ts'
import type { CachedCurrencyList } from '../assets/currency-list.ts'
import { type Layer, limitDeadline, mapResponses, onOperations } from '../layer.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { unconfirmedMemos } from '../same-swap.ts'
import { contradictionsOf, hasFailed } from './judge.ts'

/**
 * Before each further get. A provider may know a transaction only a moment after it has created it. The first get is made at once, and
 * leaves time for a second one.
 */
const pausesMs = [300, 1_000]

/**
 * Adds the networks of coins that have several, the requested memos, and what else the response leaves out, from a get. Throws if it
 * cannot be had: then the outcome is unknown. A swap that has failed at once has what a get says, if one can be had. Runs next to the
 * provider, where asset names are its own.
 */
export function confirmCreate({ currencyList, configured }: ProviderScope): Layer {
  const mustConfirmNetworks = configured.networks === 'confirmed'
  const mustConfirmMemos = configured.extraIds !== 'unconfirmed'
  return onOperations({
    async createTransaction(request, context, next) {
      const response = await next.call('createTransaction', request, context)
      const { body } = response
      if (contradictionsOf(request, body, currencyList, context).length > 0) return response
      const isOpen = (side: Side): boolean => isSilent(body, side) && hasSeveralNetworks(context.pair ?? {}, side, currencyList)
      const silent = mustConfirmNetworks ? [from, to].filter(isOpen) : []
      const lacksMemo = mustConfirmMemos && unconfirmedMemos(request, body).length > 0
      if (silent.length === 0 && !lacksMemo && !hasFailed(body)) return response
      const details = await readDetails(body.id, silent, context, next)
      if (details) {
        const contradicted = contradictionsOf(request, details, currencyList, context)
        return { ...response, body: complete(body, details, silent), report: { ...response.report, contradicted } }
      }
      if (silent.length === 0 && !lacksMemo) return response
      throw new Fault('unreadable', 'The provider does not confirm the transaction that it has created.')
    },
  })
}

function isSilent(reported: Pair, side: Side): boolean {
  const { code, network } = assetNameOf(reported, side)
  return code === undefined && network === undefined
}

/** In the table, or in the provider's list. */
function hasSeveralNetworks(pair: Pair, side: Side, { naming, last }: CachedCurrencyList): boolean {
  const coin = pair[side.coin] ?? pair[side.code] ?? ''
  if ((naming.table.coin(coin)?.assets.length ?? 0) > 1) return true
  const listedAssets = last()?.listedAssets ?? []
  const networks = listedAssets.filter(({ row }) => fold(row.coin ?? '') === fold(coin)).map(({ row }) => fold(row.network ?? ''))
  return new Set(networks).size > 1
}

/** Undefined if no get can be had that names the networks of the `silent` sides. The first one leaves time for another. */
async function readDetails(
  id: string,
  silent: readonly Side[],
  context: Context,
  service: SwapService,
): Promise<Transaction | undefined> {
  for (const pauseMs of [0, ...pausesMs]) {
    if (context.deadline - performance.now() < 2 * pauseMs) return undefined
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const limited = pauseMs > 0 ? context : limitDeadline(context, (context.deadline - performance.now()) / 2)
    const response = await service.call('getTransaction', { id }, limited).catch(() => undefined)
    if (response?.body.id === id && silent.every((side) => !isSilent(response.body, side))) return response.body
  }
  return undefined
}

/** Adds what only the details have. The status of a swap that has failed is theirs. */
function complete(body: Transaction, details: Transaction, silent: readonly Side[]): Transaction {
  const { status, attention } = hasFailed(body) ? details : body
  return {
    ...body,
    ...Object.fromEntries(silent.map(({ network }) => [network, details[network]])),
    refundAddress: body.refundAddress ?? details.refundAddress,
    depositExtraId: body.depositExtraId ?? details.depositExtraId,
    withdrawalExtraId: body.withdrawalExtraId ?? memoOf(details.withdrawalAddress, details.withdrawalExtraId),
    refundExtraId: body.refundExtraId ?? memoOf(details.refundAddress, details.refundExtraId),
    status,
    attention,
  }
}

// Fills fields of a response from its request, and handles messages that a provider returns instead of an amount.

/** Memos that the provider may leave out count as accepted. Throws `invalid` for a quote with a message only. */
export function fillFromRequest({ confidential, configured }: ProviderScope): Layer {
  const fillsMemos = configured.extraIds === 'unconfirmed'
  return mapResponses({
    getRate: (response, request, context) => {
      refuseMessage(response, request.amountIn ?? response.body.amountIn, context, confidential)
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
    reason: reasonByAmountRange(amountIn, body),
    ...(provider !== undefined && { provider }),
  })
}

/** Fills fields that the provider's response to a create lacks from the request. Never a memo: if the provider lost it, the funds are lost. */
function fillTransaction(request: NewTransaction, response: Transaction): Transaction {
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
