/** A provider's currency list as it was last read, and the readings of it. */
import { Fault } from '../domain/fault.ts'
import type { Drift } from '../domain/observation.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { Currency } from '../domain/swap.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { interpret, type Listing } from './listing.ts'
import type { Naming } from './naming.ts'
import { readWhole } from './pages.ts'

/** Times in milliseconds. */
export interface CopyOptions {
  readonly service: SwapService
  readonly naming: Naming
  /** What the provider's form can say. */
  readonly said: Vocabulary
  readonly lifetime: number
  /** How long beyond its lifetime a list serves where no newer one can be read. */
  readonly staleFor: number
  /** Bounds a reading, whoever asked for it first. */
  readonly timeout: number
  readonly drift: (drift: Drift) => void
}

const mostCurrencies = 10_000
/** After this part of its lifetime a list is read again in the background, so that nobody waits for the next one. */
const earlier = 0.8
/** How soon a reading in the background is tried again that failed. */
const pause = 5_000
/** A timer takes no more. */
const longestTimer = 2_147_483_647

export class Copy {
  last: Listing | undefined
  failedAt = Number.NEGATIVE_INFINITY
  private readonly options: CopyOptions
  private reading: Promise<Listing> | undefined
  private timer: NodeJS.Timeout | undefined
  private isClosed = false

  constructor(options: CopyOptions) {
    this.options = options
  }

  get isReading(): boolean {
    return this.reading !== undefined
  }

  /** One reading serves all who ask while it is made. */
  read(context: Context): Promise<Listing> {
    this.reading ??= this.renew(context)
    return this.reading
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
  }

  private async renew(context: Context): Promise<Listing> {
    try {
      this.last = await read(this.options, context, this.last)
      this.readAgain(this.options.lifetime * earlier)
      return this.last
    } catch (reason) {
      this.failedAt = performance.now()
      if (this.last) this.readAgain(pause)
      throw asFailure(reason)
    } finally {
      this.reading = undefined
    }
  }

  private readAgain(after: number): void {
    clearTimeout(this.timer)
    if (this.isClosed || this.options.lifetime === 0) return
    const begin = (): void => void this.read(ownContext(this.options)).catch(() => {})
    this.timer = setTimeout(begin, Math.min(after, longestTimer))
    this.timer.unref()
  }
}

/** Of nobody's asking: a list belongs to no client. */
function ownContext({ said }: CopyOptions): Context {
  return { requestId: crypto.randomUUID(), caller: { address: '' }, client: said, deadline: Number.POSITIVE_INFINITY }
}

/** A list that breaks off does not replace one that did not. */
async function read(options: CopyOptions, context: Context, last: Listing | undefined): Promise<Listing> {
  const { service, naming, timeout, drift } = options
  const deadline = performance.now() + timeout
  const whole = await readWhole<'listCurrencies', Currency>(
    service,
    'listCurrencies',
    { ...context, caller: { address: '' }, deadline, isOwn: true },
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
