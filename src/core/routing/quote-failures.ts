/**
 * Creates leave a provider whose quotes have just failed over (docs/contract-operators.md §12): each process goes by its own quotes, for the account;
 * for the same request from an address, where they had no key; for all, once those of two accounts failed or the breaker of quotes is open
 * (`quote-failures.test.ts`, `test/routing/leaving-creates.test.ts`).
 */
import { isExtreme } from '../../domain/amount.ts'
import type { AssetTable } from '../../domain/asset.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { Fault, faultTable } from '../../domain/fault.ts'
import type { Context } from '../../domain/service.ts'
import { type NewTransaction, type RateQuery, requestedAmountOf } from '../../domain/swap.ts'
import type { SteadyClock } from '../clock.ts'
import { compose, onOperations } from '../layer.ts'
import type { Candidate } from './failover.ts'
import { addressQuoteKeyOf } from './winners.ts'

/** How long a failed quote counts, unless the provider answers another one before. */
const countsForMs = 10_000
/** A bound on memory, for each provider. */
const maxKept = 10_000
/** A time-out counts only if the quote had this share of the time of all. */
const minTimeShare = 0.2

interface QuoteFailuresOptions {
  readonly table: AssetTable
  readonly clock: SteadyClock
  /** Of a quote over all providers that are tried. */
  readonly timeoutMs: number
}

/** The quotes that have failed at one provider since it last answered one. */
interface Failures {
  /** By account, and of callers without a key by network and request: when it was. */
  readonly byCaller: BoundedMap<number>
  /** Of the last two accounts. */
  readonly latest: readonly { readonly account: string; readonly at: number }[]
  /** When its breaker last turned a quote away. */
  readonly brokenAt: number
}

export class QuoteFailures {
  private readonly options: QuoteFailuresOptions
  /** By tag. */
  private readonly failing = new Map<string, Failures>()

  constructor(options: QuoteFailuresOptions) {
    this.options = options
  }

  /** The same candidate, whose quotes are noted. */
  watch({ tag, service }: Candidate): Candidate {
    const noting = onOperations({
      getRate: async (query, context, next) => {
        const hadTime = context.deadline - performance.now() >= this.options.timeoutMs * minTimeShare
        try {
          const response = await next.call('getRate', query, context)
          // A quote out of a cache says nothing about now.
          if ((response.caching?.ageSeconds ?? 0) === 0) this.failing.delete(tag)
          return response
        } catch (reason) {
          this.noteFault(tag, query, context, Fault.from(reason), hadTime)
          throw reason
        }
      },
    })
    return { tag, service: compose([noting], service) }
  }

  /** The candidates for a create, in their order, but those last whose quotes have just failed. */
  failingLast(candidates: readonly Candidate[], request: NewTransaction, context: Context): readonly Candidate[] {
    if (this.failing.size === 0 || candidates.length < 2) return candidates
    const failing = new Set(candidates.filter(({ tag }) => this.isFailing(tag, request, context)))
    return [...candidates.filter((one) => !failing.has(one)), ...failing]
  }

  /**
   * Whether quotes have just failed there: for this account, for this request from this network, or, which counts for all, for two
   * accounts, or by its breaker.
   */
  isFailing(tag: string, request: NewTransaction, { caller }: Context): boolean {
    const failures = this.failing.get(tag)
    if (!failures) return false
    const { byCaller, latest, brokenAt } = failures
    const now = this.options.clock()
    const isRecent = (at = Number.NEGATIVE_INFINITY): boolean => now - at < countsForMs
    if (isRecent(brokenAt) || (latest.length === 2 && latest.every(({ at }) => isRecent(at)))) return true
    if (caller.identity !== undefined && isRecent(byCaller.get(accountKeyOf(caller.identity), now))) return true
    return isRecent(byCaller.get(addressQuoteKeyOf(caller.address, request, this.options.table), now))
  }

  private noteFault(tag: string, query: RateQuery, { caller }: Context, fault: Fault, hadTime: boolean): void {
    const isBroken = fault.unavailableCause === 'breaker'
    const isHeldBack = isBroken || fault.unavailableCause === 'caller'
    if (!isHeldBack && (isExtreme(requestedAmountOf(query)) || !isFailure(fault, hadTime))) return
    const now = this.options.clock()
    const { byCaller, latest, brokenAt } = this.failing.get(tag) ?? noFailures()
    const account = caller.identity
    const key = account === undefined ? addressQuoteKeyOf(caller.address, query, this.options.table) : accountKeyOf(account)
    byCaller.set(key, now, now)
    this.failing.set(tag, {
      byCaller,
      latest:
        account === undefined ? latest : [{ account, at: now }, ...latest.filter((one) => one.account !== account)].slice(0, 2),
      brokenAt: isBroken ? now : brokenAt,
    })
  }
}

function noFailures(): Failures {
  const byCaller = new BoundedMap<number>({ share: cacheShares.callers, maxEntries: maxKept, lifetimeMs: countsForMs })
  return { byCaller, latest: [], brokenAt: Number.NEGATIVE_INFINITY }
}

function accountKeyOf(account: string): string {
  return `account ${account}`
}

/** Whether the provider failed, and not the request. */
function isFailure({ kind, effect }: Fault, hadTime: boolean): boolean {
  switch (faultTable[kind].health) {
    case 'failed':
    case 'unconnected':
      return true
    case 'failedUnlessRefused':
      return effect === 'maybe'
    case 'failedIfInTime':
      return hadTime
    case 'responded':
      return false
  }
}
