/**
 * A ledger that was restored from a backup lacks the swaps of since (docs/contract.md §10.6). Until they are found and decided about, nobody
 * is told that a swap does not exist, and no order is made that may be one of them.
 */

import type { AssetTable } from '../../domain/asset.ts'
import { withTimeout } from '../../domain/async.ts'
import { Fault } from '../../domain/fault.ts'
import { type Context, ownerOf } from '../../domain/service.ts'
import { isTag, isTransactionId, type NewTransaction, parseTransactionId } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { RestoredProvider, RestoreStore } from '../restores.ts'
import { amountSizeOf, mayBeOrderOf } from '../same-swap.ts'

const maxReadMs = 3_000
/** Seconds. Lists take minutes, and a person longer. */
const unreadRetryAfter = 60
const undecidedRetryAfter = 600
/** More that may be an order's are not looked at: then one of them may be. */
const maxCandidates = 1_000

/** What requests read of the store. */
export type RestoredOrders = Pick<RestoreStore, 'candidates' | 'missing' | 'noteKey'>

/** Of the whole process: it survives reloads. Before the first `follow` nothing counts as restored. */
export class RestoredLedger {
  private readonly store: Pick<RestoreStore, 'read'>
  private restored: ReadonlyMap<string, RestoredProvider> = new Map()
  private readonly reopened = new Map<string, number>()

  constructor(store: Pick<RestoreStore, 'read'>) {
    this.store = store
  }

  /** Reads again for which providers a restore holds. Throws where the ledger cannot be read: then what is known holds. */
  async follow(): Promise<void> {
    const providers = await withTimeout(this.store.read(), maxReadMs, () => {
      throw new Error('the ledger does not answer in time')
    })
    for (const { provider, undecided } of providers)
      if (undecided > (this.restored.get(provider)?.undecided ?? 0)) this.reopened.set(provider, performance.now())
    this.restored = new Map(providers.map((restored) => [restored.provider, restored]))
  }

  /** On the clock of `performance.now()`: when more orders of the provider waited than before. One may have been taken back from an account. */
  reopenedAt(provider: string): number {
    return this.reopened.get(provider) ?? Number.NEGATIVE_INFINITY
  }

  /** For the operator. */
  get warnings(): readonly string[] {
    const tags = [...this.restored.values()].filter(({ readAt }) => readAt === undefined).map(({ provider }) => provider)
    const undecided = [...this.restored.values()].reduce((sum, each) => sum + each.undecided, 0)
    return [
      ...(tags.length > 0 ? [`ledger: it was restored: creates stop until swapgate ledger rebuild ${tags.join(' ')}`] : []),
      ...(undecided > 0 ? [`ledger: it was restored, and lacks ${undecided} orders: swapgate ledger found list`] : []),
    ]
  }

  /** Whether it may lack swaps. */
  get isIncomplete(): boolean {
    return this.restored.size > 0
  }

  /** In front of one provider: 503 for a create until its list was read whole. Nothing was sent: another one may take it. */
  refuseUnread(provider: string): Layer {
    return onOperations({
      createTransaction: async (request, context, next) => {
        if (this.isUnread(provider)) throw unread()
        return next.call('createTransaction', request, context)
      },
    })
  }

  /**
   * In front of all providers: 503 for a swap of a known provider that the ledger lacks, 409 for a create that may be one of the orders that
   * wait for a person. A create with an `Idempotency-Key` may repeat one that the ledger forgot, at any provider: it waits for all lists.
   */
  layer(orders: RestoredOrders, tags: readonly string[], table: AssetTable): Layer {
    return onOperations({
      createTransaction: async (request, context, next) => {
        if (this.restored.size > 0) {
          if (context.idempotencyKeyHeader !== undefined && tags.some((tag) => this.isUnread(tag))) throw unread('refused')
          await this.refuseFound(request, context, orders, table)
        }
        return next.call('createTransaction', request, context)
      },
      getTransaction: async (request, context, next) => {
        if (this.restored.size === 0) return next.call('getTransaction', request, context)
        try {
          return await next.call('getTransaction', request, context)
        } catch (reason) {
          if (Fault.from(reason).kind === 'notFound' && (await this.mayLack(request.id, orders))) throw lacking()
          throw reason
        }
      },
    })
  }

  private isUnread(provider: string): boolean {
    const restored = this.restored.get(provider)
    return restored !== undefined && restored.readAt === undefined
  }

  private async refuseFound(request: NewTransaction, context: Context, orders: RestoredOrders, table: AssetTable): Promise<void> {
    if (![...this.restored.values()].some(mayHaveOrders)) return
    // An order is found by the amount that is sent.
    const size = request.amountOut === undefined ? (amountSizeOf(request.amountIn) ?? 0) : undefined
    const sizes = size === undefined ? undefined : [size - 1, size, size + 1]
    const found = await orders.candidates(ownerOf(context), sizes, maxCandidates)
    const same = found.filter(({ reports }) => reports.some((reported) => mayBeOrderOf(reported, request, table)))
    if (same.length === 0 && found.length < maxCandidates) return
    // Its key gets the order once that is assigned. If the ledger cannot take it, the next repeat is noted.
    if (context.idempotencyKey) await orders.noteKey(same, ownerOf(context), context.idempotencyKey).catch(() => {})
    throw undecided()
  }

  /** The same for every id: whether the order exists shows nowhere. */
  private async mayLack(requestedId: string, orders: RestoredOrders): Promise<boolean> {
    const { tag, id } = parseTransactionId(requestedId)
    if (tag === undefined || !isTag(tag) || !isTransactionId(id)) return false
    const restored = this.restored.get(tag)
    if (!restored || !mayHaveOrders(restored)) return false
    return (await orders.missing(tag, [id])).length > 0
  }
}

/** Whether an order may exist at its provider that no account has here. */
function mayHaveOrders({ readAt, undecided }: RestoredProvider): boolean {
  return readAt === undefined || undecided > 0
}

function unread(effect: 'nothingSent' | 'refused' = 'nothingSent'): Fault {
  const message = 'The service is being restored, and takes no new swaps here yet; please wait as long as Retry-After says.'
  return new Fault('unavailable', message, { reason: 'ledger_restored', retryAfter: unreadRetryAfter, effect })
}

function undecided(): Fault {
  const message =
    'You may have created this swap before: the service was restored, and a person finds out. Please ask your operator, and do not create it elsewhere.'
  return new Fault('inProgress', message, { reason: 'ledger_restored', retryAfter: undecidedRetryAfter, effect: 'refused' })
}

function lacking(): Fault {
  const message = 'The service is being restored, and may not know this swap yet; please ask again later.'
  return new Fault('unavailable', message, { reason: 'ledger_restored', retryAfter: unreadRetryAfter, effect: 'refused' })
}
