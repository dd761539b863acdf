/** A provider's whole currency list, kept (`spec/contract.md` §8). */
import { Fault } from '../domain/fault.ts'
import type { Drift } from '../domain/observation.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { Currency } from '../domain/swap.ts'
import { interpret, type Listing } from './listing.ts'
import type { Naming } from './naming.ts'
import { readWhole } from './pages.ts'
import { soonOr } from './patience.ts'

export interface Catalogue {
  readonly naming: Naming
  /** Read once for each lifetime, by one call however many ask; the last one serves while the provider is slow or fails. */
  readonly listing: (context: Context) => Promise<Listing>
  /** The same where it is to be had soon, for whom it only confirms what the table says; not tried again where it just failed. */
  readonly listingAtHand: (context: Context) => Promise<Listing | undefined>
}

/** Times in milliseconds. */
export interface CatalogueOptions {
  readonly service: SwapService
  readonly naming: Naming
  readonly lifetime: number
  /** How long beyond its lifetime a list serves where no newer one can be read. */
  readonly staleFor: number
  /** Bounds a reading, whoever asked for it first. */
  readonly timeout: number
  readonly drift: (drift: Drift) => void
}

const mostCurrencies = 10_000
/** How long a newer list is waited for where an old one would do. */
const patience = 300
/** How long a failed reading is not tried again where an old list would do. */
const pause = 5_000

export function catalogue(options: CatalogueOptions): Catalogue {
  const { naming, lifetime, staleFor } = options
  let last: Listing | undefined
  let reading: Promise<Listing> | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  const refresh = async (context: Context): Promise<Listing> => {
    try {
      last = await read(options, context, last)
      return last
    } catch (reason) {
      failedAt = performance.now()
      throw asFailure(reason)
    } finally {
      reading = undefined
    }
  }
  const listing: Catalogue['listing'] = async (context) => {
    const now = performance.now()
    const old = last
    if (old && now - old.readAt < lifetime) return old
    const isServing = old && now - old.readAt < lifetime + staleFor
    if (isServing && now - failedAt < pause) return old
    reading ??= refresh(context)
    return isServing ? soonOr(reading, old, patience) : reading
  }
  return {
    naming,
    listing,
    async listingAtHand(context) {
      const now = performance.now()
      if (!last && now - failedAt < pause) return undefined
      return soonOr(listing(context), undefined, (context.deadline - now) / 2)
    },
  }
}

/** A list that breaks off does not replace one that did not. */
async function read(options: CatalogueOptions, context: Context, last: Listing | undefined): Promise<Listing> {
  const { service, naming, timeout, drift } = options
  const deadline = performance.now() + timeout
  const whole = await readWhole<'listCurrencies', Currency>(
    service,
    'listCurrencies',
    { ...context, deadline },
    {
      identify: ({ code, coin, network }) => `${code ?? coin}\n${network ?? ''}`,
      most: mostCurrencies,
      tooMany: () => new Fault('unreadable', "The provider's list of currencies is too long."),
    },
  )
  if (last && !whole.isComplete) throw new Fault('unreadable', "The provider's list of currencies broke off.")
  return { ...interpret(whole.rows, naming, drift), provider: whole.provider, readAt: performance.now() }
}

/** The list is the gateway's own question: a refusal of it is not the client's fault. */
function asFailure(reason: unknown): Fault {
  const fault = Fault.from(reason)
  if (fault.kind !== 'invalid' && fault.kind !== 'notFound') return fault
  const message = "The provider's list of currencies could not be read; please try again later."
  return new Fault('failed', message, { cause: fault, ...(fault.provider !== undefined && { provider: fault.provider }) })
}
