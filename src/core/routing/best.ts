/** The strategy `best`: a quote asks every provider, and the highest amount received wins (docs/contract.md §12). */
import { type Amount, compareAmounts } from '../../domain/amount.ts'
import { Fault } from '../../domain/faults/fault.ts'
import type { AssetTable } from '../../domain/swap/asset.ts'
import type { Context, ServiceResponse } from '../../domain/swap/service.ts'
import type { NewTransaction, RateQuery } from '../../domain/swap/swap.ts'
import { limitDeadline } from '../resilience/deadline.ts'
import { type Candidate, failsOver } from './failover.ts'
import { quoteKeyOf, quoteKeysOf, type WinnerStore } from './winners.ts'

export interface BestOptions {
  readonly winners: WinnerStore
  readonly table: AssetTable
  /** After so long, once one provider has answered, slower ones are left out. */
  readonly patienceMs: number
}

interface Quote {
  readonly tag: string
  readonly response: ServiceResponse<'getRate'>
}

/** Of the time of a create, how much at most is spent on finding its provider. */
const quoteShareOfCreate = 0.5

export class BestQuote {
  private readonly options: BestOptions

  constructor(options: BestOptions) {
    this.options = options
  }

  /** Throws the first refusal in list order where no provider quotes, else the first failure. */
  async getRate(candidates: readonly Candidate[], query: RateQuery, context: Context): Promise<ServiceResponse<'getRate'>> {
    const winner = await quoteBest(candidates, query, context, this.options.patienceMs)
    const { winners, table } = this.options
    await winners.save(quoteKeyOf(context.caller, query, table), winner.tag)
    return winner.response
  }

  /**
   * The create goes to the provider that won the caller's quote; where there was none, the quote is requested first. Only a
   * provider that certainly has not taken the create is followed by another.
   */
  async createTransaction(candidates: readonly Candidate[], request: NewTransaction, context: Context) {
    const winner = await this.findWinner(request, context)
    let remaining = candidates
    let candidate = candidates.find(({ tag }) => tag === winner) ?? (await this.quoteFor(candidates, request, context))
    for (;;) {
      const { tag, service } = candidate
      try {
        return { tag, response: await service.call('createTransaction', request, context) }
      } catch (reason) {
        const fault = Fault.from(reason)
        remaining = remaining.filter((one) => one.tag !== tag)
        if (remaining.length === 0 || !failsOver('createTransaction', fault)) throw fault
        candidate = await this.quoteFor(remaining, request, context).catch(() => {
          throw fault
        })
      }
    }
  }

  private async findWinner(request: NewTransaction, { caller }: Context): Promise<string | undefined> {
    for (const key of quoteKeysOf(caller, request, this.options.table)) {
      const tag = await this.options.winners.find(key)
      if (tag !== undefined) return tag
    }
    return undefined
  }

  /** The provider that quotes best for a create. */
  private async quoteFor(candidates: readonly Candidate[], request: NewTransaction, context: Context): Promise<Candidate> {
    const [only, ...others] = candidates
    if (only && others.length === 0) return only
    const { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo, amountIn, rateType } = request
    const query = { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo, amountIn, rateType }
    const limited = limitDeadline(context, quoteShareOfCreate * (context.deadline - performance.now()))
    const { tag } = await quoteBest(candidates, query, limited, this.options.patienceMs).catch(refuseCreate)
    return candidates.find((candidate) => candidate.tag === tag) as Candidate
  }
}

/** Nothing was created: whatever kept the providers from quoting is no unknown outcome. */
function refuseCreate(reason: unknown): never {
  const fault = Fault.from(reason)
  if (fault.kind === 'invalid') throw fault
  const message = 'No provider can take this swap at the moment; please try again soon.'
  throw new Fault('unavailable', message, { retryAfter: fault.retryAfter ?? 1, noEffect: true, cause: fault })
}

type Result = Quote | Fault

/** The quote with the highest amount received; of equal ones the first in list order. */
async function quoteBest(candidates: readonly Candidate[], query: RateQuery, context: Context, patienceMs: number): Promise<Quote> {
  const results = await collect(
    candidates.map(({ tag, service }) =>
      service.call('getRate', query, context).then(
        (response): Result => ({ tag, response }),
        (reason): Result => Fault.from(reason),
      ),
    ),
    patienceMs,
  )
  const quotes = results.filter((result): result is Quote => result !== undefined && !(result instanceof Fault))
  const winner = quotes.filter(competes).reduce<Quote | undefined>(better, undefined) ?? quotes[0]
  if (winner) return winner
  const faults = results.filter((result) => result instanceof Fault)
  throw faults.find(({ kind }) => kind === 'invalid') ?? faults[0]
}

/** All results in list order; after `patienceMs`, once one of them is a quote, those that are there. */
function collect(pending: readonly Promise<Result>[], patienceMs: number): Promise<readonly (Result | undefined)[]> {
  const results: (Result | undefined)[] = pending.map(() => undefined)
  return new Promise((resolve) => {
    let isPatient = true
    let missing = pending.length
    const settle = (): void => {
      const hasQuote = results.some((result) => result !== undefined && !(result instanceof Fault))
      if (missing > 0 && (isPatient || !hasQuote)) return
      clearTimeout(timer)
      resolve([...results])
    }
    const timer = setTimeout(() => {
      isPatient = false
      settle()
    }, patienceMs)
    for (const [at, result] of pending.entries()) {
      void result.then((settled) => {
        results[at] = settled
        missing--
        settle()
      })
    }
  })
}

/** Whether its amount lies within its own limits and it names what is received. */
function competes({ response: { body } }: Quote): boolean {
  const { amountIn, amountOut, minAmount, maxAmount } = body
  if (amountOut === undefined) return false
  return isAtLeast(amountIn, minAmount) && (maxAmount === undefined || compareAmounts(amountIn, maxAmount) <= 0)
}

function isAtLeast(amount: Amount, min: Amount | undefined): boolean {
  return min === undefined || compareAmounts(amount, min) >= 0
}

function better(best: Quote | undefined, quote: Quote): Quote {
  if (!best) return quote
  const [amount, next] = [best, quote].map(({ response }) => response.body.amountOut as Amount) as [Amount, Amount]
  return compareAmounts(next, amount) > 0 ? quote : best
}
