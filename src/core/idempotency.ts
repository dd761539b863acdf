/** One create for one `Idempotency-Key` of one identity, whichever form it comes in (docs/contract.md §10.1). */
import { plainAmount } from '../domain/amount.ts'
import type { AssetTable } from '../domain/asset.ts'
import { fold } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Answer, Context, SwapService } from '../domain/operations.ts'
import type { NewTransaction } from '../domain/swap.ts'
import { taggedId } from './identification.ts'
import { inProgress } from './intent.ts'
import { type Layer, on } from './layer.ts'
import type { Claimed, Entry, Facts, Ledger } from './ledger.ts'
import { ownerOf } from './owner.ts'
import { from, type Side, to, wordsOf } from './pair.ts'
import { contradiction } from './settlement.ts'

/** A question that was asked before is not asked again: its answer is, or 409 while nobody knows it. */
export function idempotency(ledger: Ledger, table: AssetTable): Layer {
  return on({
    async createTransaction(request, context, next) {
      const key = context.idempotencyKey
      if (key === undefined) return next.call('createTransaction', request, context)
      const claim = { key, fingerprint: fingerprintOf(request, table) }
      const before = await ledger.claimed(ownerOf(context), key)
      if (before) return replay(before, claim.fingerprint, context, next)
      try {
        return await next.call('createTransaction', request, { ...context, claim })
      } catch (reason) {
        if (Fault.from(reason).kind !== 'inProgress') throw reason
        // Another request with this key came first, and may have ended meanwhile.
        const winner = await ledger.claimed(ownerOf(context), key)
        if (!winner) throw reason
        return replay(winner, claim.fingerprint, context, next)
      }
    },
  })
}

async function replay(
  claimed: Claimed,
  fingerprint: string,
  context: Context,
  service: SwapService,
): Promise<Answer<'createTransaction'>> {
  if (claimed.fingerprint !== fingerprint) {
    throw new Fault('reusedKey', 'This Idempotency-Key was used for another request; please use a new key for each new swap.')
  }
  if (claimed.state !== 'done') {
    throw claimed.state === 'open' ? inProgress() : contradiction(claimed.provider).with({ replayed: true })
  }
  const { entry, first } = claimed
  return first ? answerOf(entry.provider, first) : current(entry, context, service)
}

/** A create's answer always tells the amount that it promises. */
function answerOf(provider: string, { transaction, promised, derived }: Facts): Answer<'createTransaction'> {
  const amountOut = transaction.amountOut ?? promised
  return { body: { ...transaction, amountOut, id: taggedId(provider, transaction.id) }, provider, derived, replayed: true }
}

/** No first answer is known, since the transaction was found by hand: it is told as it is now. */
async function current(
  { provider, transaction }: Entry,
  context: Context,
  service: SwapService,
): Promise<Answer<'createTransaction'>> {
  const { body, derived = [], stale } = await service.call('getTransaction', { id: taggedId(provider, transaction.id) }, context)
  // What nobody knows where to pay for is no answer to a create yet.
  if (!body.depositAddress) throw inProgress()
  return { body, provider, derived, stale, replayed: true }
}

/** The same for the same question: assets in the table's words, amounts by value. */
function fingerprintOf(request: NewTransaction, table: AssetTable): string {
  const { amountIn, withdrawalAddress, refundAddress, withdrawalExtraId, refundExtraId, rateType } = request
  const assets = [from, to].map((side) => assetOf(request, side, table))
  const terms = [plainAmount(amountIn), withdrawalAddress, refundAddress, withdrawalExtraId, refundExtraId, rateType]
  return JSON.stringify([...assets, ...terms.map((term) => term ?? null)])
}

function assetOf(request: NewTransaction, side: Side, table: AssetTable): string {
  const { code, coin, network } = wordsOf(request, side)
  const asset = code !== undefined ? table.byCode(code) : table.find(coin ?? '', network ?? '')
  const words = asset ? [asset.code] : [code ?? coin, network].filter((word) => word !== undefined)
  // Claims are kept by it: what a space between the words tells apart stays as it always was.
  if (words.some((word) => /[\s"]/.test(word))) return JSON.stringify(words.map(fold))
  return asset ? asset.code : fold(words.join(' '))
}
