/** One create for one `Idempotency-Key` of one identity, whichever form it comes in (docs/contract.md §10.1). */
import { plainAmount } from '../../domain/amount.ts'
import { Fault } from '../../domain/faults/fault.ts'
import type { AssetTable } from '../../domain/swap/asset.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/swap/service.ts'
import type { NewTransaction } from '../../domain/swap/swap.ts'
import { assetKeyOf } from '../assets/asset-key.ts'
import { from, to } from '../assets/pair.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { ClaimState, Ledger, LedgerEntry, TransactionRecord } from '../ledger.ts'
import { ownerOf } from '../transactions/owner.ts'
import { formatTransactionId } from '../transactions/transaction-id.ts'
import { inProgress } from './intent.ts'
import { contradiction } from './record-result.ts'

/** A question that was asked before is not asked again: its answer is, or 409 while nobody knows it. */
export function idempotency(ledger: Ledger, table: AssetTable): Layer {
  return onOperations({
    async createTransaction(request, context, next) {
      const key = context.idempotencyKey
      if (key === undefined) return next.call('createTransaction', request, context)
      const claim = { key, fingerprint: fingerprintOf(request, context.pick, table) }
      const existing = await ledger.findClaim(ownerOf(context), key)
      if (existing) return replay(existing, claim.fingerprint, context, next)
      try {
        return await next.call('createTransaction', request, { ...context, claim })
      } catch (reason) {
        if (Fault.from(reason).kind !== 'inProgress') throw reason
        // Another request with this key came first, and may have ended meanwhile.
        const winner = await ledger.findClaim(ownerOf(context), key)
        if (!winner) throw reason
        return replay(winner, claim.fingerprint, context, next)
      }
    },
  })
}

async function replay(
  claimState: ClaimState,
  fingerprint: string,
  context: Context,
  service: SwapService,
): Promise<ServiceResponse<'createTransaction'>> {
  if (claimState.fingerprint !== fingerprint) {
    throw new Fault('reusedKey', 'This Idempotency-Key was used for another request; please use a new key for each new swap.')
  }
  if (claimState.state !== 'done') {
    throw claimState.state === 'open' ? inProgress() : contradiction(claimState.provider).with({ replayed: true })
  }
  const { entry, first } = claimState
  return first ? responseOf(entry.provider, first) : currentState(entry, context, service)
}

/** A create's answer always tells the amount that it promises. */
function responseOf(
  provider: string,
  { transaction, quotedAmountOut: promised, derived }: TransactionRecord,
): ServiceResponse<'createTransaction'> {
  const amountOut = transaction.amountOut ?? promised
  return {
    body: { ...transaction, amountOut, id: formatTransactionId(provider, transaction.id) },
    provider,
    derived,
    replayed: true,
  }
}

/** No first answer is known, since the transaction was found by hand: it is told as it is now. */
async function currentState(
  { provider, transaction }: LedgerEntry,
  context: Context,
  service: SwapService,
): Promise<ServiceResponse<'createTransaction'>> {
  const {
    body,
    derived = [],
    staleSeconds,
  } = await service.call('getTransaction', { id: formatTransactionId(provider, transaction.id) }, context)
  // What nobody knows where to pay for is no answer to a create yet.
  if (!body.depositAddress) throw inProgress()
  return { body, provider, derived, staleSeconds, replayed: true }
}

/** The same for the same question: assets in the table's words, amounts by value, and the provider that is asked for, if any. */
function fingerprintOf(request: NewTransaction, pick: string | undefined, table: AssetTable): string {
  const { amountIn, withdrawalAddress, refundAddress, withdrawalExtraId, refundExtraId, rateType } = request
  const assets = [from, to].map((side) => assetKeyOf(request, side, table))
  const terms = [plainAmount(amountIn), withdrawalAddress, refundAddress, withdrawalExtraId, refundExtraId, rateType]
  return JSON.stringify([...assets, ...terms.map((term) => term ?? null), ...(pick === undefined ? [] : [{ pick }])])
}
