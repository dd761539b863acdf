/**
 * A ledger that was restored from a backup lacks the swaps of since (docs/contract-operators.md §10.6). Until they are found and decided about, nobody
 * is told that a swap does not exist, and no order is made that may be one of them.
 */

import type { AbsentSwaps } from '../../domain/absent-swaps.ts'
import type { AssetTable } from '../../domain/asset.ts'
import { withTimeout } from '../../domain/async.ts'
import { valueIn } from '../../domain/context-values.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import { type Context, ownerOf } from '../../domain/service.ts'
import { isTag, isTransactionId, type NewTransaction } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { HeldSinceRestore, RestoredProvider, RestoreStore } from '../ports/restores.ts'
import { amountSizeOf, mayBeOrderOf } from '../same-swap.ts'
import { freeKey } from './intent.ts'

const maxReadMs = 3_000
/** Seconds. Lists take minutes, and a person longer. */
const unreadRetryAfter = 60
const undecidedRetryAfter = 600
/** More that may be an order's are not looked at: then one of them may be. */
const maxCandidates = 1_000

/** What requests read of the store. */
export type RestoredOrders = Pick<RestoreStore, 'candidates' | 'missing' | 'isWaiting' | 'noteKey' | 'isNoted'>

type Follows = Pick<RestoreStore, 'read' | 'held'>

/** Of the whole process: it survives reloads. Before the first `follow` nothing counts as restored. */
export class RestoredLedger {
  private readonly store: Follows
  /** Where a restore holds. */
  private restored: ReadonlyMap<string, RestoredProvider> = new Map()
  private everRestored: ReadonlySet<string> = new Set()
  private held: HeldSinceRestore = { webhooks: 0, actions: false }

  constructor(store: Follows) {
    this.store = store
  }

  /** Reads again for which providers a restore holds. Throws where the ledger cannot be read: then what is known holds. */
  async follow(): Promise<void> {
    const [providers, held] = await withTimeout(Promise.all([this.store.read(), this.store.held()]), maxReadMs, () => {
      throw new Error('the ledger does not answer in time')
    })
    this.restored = new Map(providers.filter(({ holds }) => holds).map((restored) => [restored.provider, restored]))
    this.everRestored = new Set(providers.map(({ provider }) => provider))
    this.held = held
  }

  /** Whether a person may take a swap at the provider back from its account, at any time. */
  mayTakeBack(provider: string): boolean {
    return this.everRestored.has(provider)
  }

  /** For the operator. */
  get warnings(): readonly string[] {
    const tags = [...this.restored.values()].filter(({ readAt }) => readAt === undefined).map(({ provider }) => provider)
    const undecided = [...this.restored.values()].reduce((sum, each) => sum + each.undecided, 0)
    const { webhooks, actions } = this.held
    const prefix = 'ledger: it was restored'
    return [
      ...(tags.length > 0 ? [`${prefix}: creates stop until swapgate ledger rebuild ${tags.join(' ')}`] : []),
      ...(undecided > 0 ? [`${prefix}, and lacks ${undecided} orders: swapgate ledger found list`] : []),
      ...(webhooks > 0 ? [`${prefix}: ${webhooks} webhooks get nothing until swapgate ledger mark-restored --webhooks`] : []),
      ...(actions ? [`${prefix}: refunds and the like wait until swapgate ledger mark-restored --actions`] : []),
    ]
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
   * In front of all providers: 409 for a create that may be one of the orders that wait for a person, and a warning with a list that may lack
   * some. A create with an `Idempotency-Key` may repeat one that the ledger forgot, at any provider: it waits for all lists.
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
      listTransactions: async (query, context, next) => {
        const response = await next.call('listTransactions', query, context)
        return [...this.restored.values()].some(mayHaveOrders) ? { ...response, warning: 'ledger_restored' } : response
      },
    })
  }

  /** What is said of a swap that the ledger lacks. The same for every id: whether the order exists shows nowhere. */
  absentSwaps(orders: RestoredOrders): AbsentSwaps {
    return {
      fault: async (provider, id) => {
        const restored = this.restored.get(provider)
        const mayBeLost = restored && mayHaveOrders(restored) && isTag(provider) && isTransactionId(id)
        return mayBeLost && (await orders.missing(provider, [id])).length > 0 ? lacking() : standardFault('notFound')
      },
      mayBeNamed: async (provider, values) => {
        const restored = this.restored.get(provider)
        if (!restored || !mayHaveOrders(restored) || values.length === 0) return undefined
        return this.isUnread(provider) || (await orders.isWaiting(provider, values)) ? lacking() : undefined
      },
    }
  }

  private isUnread(provider: string): boolean {
    const restored = this.restored.get(provider)
    return restored !== undefined && restored.readAt === undefined
  }

  private async refuseFound(request: NewTransaction, context: Context, orders: RestoredOrders, table: AssetTable): Promise<void> {
    const owner = ownerOf(context)
    const { idempotencyKey } = valueIn(context, freeKey) ?? {}
    // An order is found by the amount that is sent.
    const size = request.amountOut === undefined ? (amountSizeOf(request.amountIn) ?? 0) : undefined
    const sizes = size === undefined ? undefined : [size - 1, size, size + 1]
    const [found, isNoted] = await Promise.all([
      orders.candidates(owner, sizes, maxCandidates),
      idempotencyKey === undefined ? false : orders.isNoted(owner, idempotencyKey.key),
    ])
    const same = found.filter(({ reports }) => reports.some((reported) => mayBeOrderOf(reported, request, table)))
    // A person sees it beside the order. If the ledger cannot take it, the next repeat is noted.
    if (idempotencyKey && same.length > 0) await orders.noteKey(same, owner, idempotencyKey).catch(() => {})
    if (isNoted || same.length > 0 || found.length >= maxCandidates) throw undecidedOrder()
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

/** 409: only a person knows whether the create has made an order. */
export function undecidedOrder(): Fault {
  const message =
    'You may have created this swap before: the service was restored, and a person finds out. Please ask your operator, and do not create it elsewhere.'
  return new Fault('inProgress', message, { reason: 'ledger_restored', retryAfter: undecidedRetryAfter, effect: 'refused' })
}

function lacking(): Fault {
  const message = 'The service is being restored, and may not know this swap yet; please ask again later.'
  return new Fault('unavailable', message, { reason: 'ledger_restored', retryAfter: unreadRetryAfter, effect: 'refused' })
}
