/** The breaker of one operation at one provider: what opens it, and whom it holds back (docs/contract.md §8). */
import { AskerVotes } from './asker-votes.ts'
import { CallerFailures } from './caller-failures.ts'
import { Circuit, type CircuitOptions } from './circuit.ts'
import type { Ending } from './ending.ts'

/** Who calls; undefined: the gateway itself. */
export interface Asker {
  /** Whose failures count as one where askers are counted. */
  readonly name: string
  /** Whose calls are held back because of his own failures. */
  readonly caller: string
}

export interface Wait {
  /** Milliseconds. */
  readonly time: number
  readonly by: 'breaker' | 'caller'
}

const failuresInRow = 5
/** How soon to come back while somebody finds out, in milliseconds. */
const soon = 1_000
/** For so long after a cooldown others go first, where one has found out and failed. */
const yielding = 2_000

export class OperationBreaker {
  readonly circuit: Circuit
  private readonly options: CircuitOptions
  private readonly callers = new CallerFailures()
  private votes = new AskerVotes()
  /** In a row, whoever called. */
  private unconnected = 0
  /** In a row, of the gateway's own calls. */
  private own = 0
  private failedProbe: string | undefined

  constructor(options: CircuitOptions) {
    this.options = options
    this.circuit = new Circuit(options)
  }

  /** Whether nobody is to wait. */
  get isQuiet(): boolean {
    return this.circuit.state === 'closed' && !this.callers.isAnyHeld(this.options.clock())
  }

  /** Why a call is not to be made now. */
  waitOf(asker: Asker | undefined): Wait | undefined {
    const { state, left } = this.circuit
    if (state === 'halfOpen') return { time: soon, by: 'breaker' }
    if (state === 'open' && left > 0) return { time: left, by: 'breaker' }
    const held = asker ? this.callers.left(asker.caller, this.options.clock()) : 0
    if (held > 0) return { time: held, by: 'caller' }
    const yields = state === 'open' && asker?.caller === this.failedProbe && left > -yielding
    return yields ? { time: soon, by: 'breaker' } : undefined
  }

  /** Counts how a call ended that found out. */
  endProbe(asker: Asker | undefined, ending: Ending): void {
    if (ending === 'unsaid') this.circuit.giveUp()
    else if (ending === 'answered') this.close()
    else this.open(asker?.caller)
  }

  /** Counts how another call ended. Whether a read of the gateway's own has to tell now whose fault it is. */
  end(asker: Asker | undefined, ending: Ending, isResend: boolean): boolean {
    if (ending === 'unsaid' || this.circuit.state !== 'closed') return false
    this.unconnected = ending === 'unconnected' ? this.unconnected + 1 : 0
    if (this.unconnected >= failuresInRow) this.open()
    else if (asker) return this.count(asker, ending, isResend)
    else this.countOwn(ending, isResend)
    return false
  }

  /** The gateway's own read was answered: the failures are this caller's. */
  hold(caller: string): void {
    this.callers.hold(caller, this.options.clock(), this.options.random)
  }

  open(failedProbe?: string): void {
    this.failedProbe = failedProbe
    this.forget()
    this.circuit.open()
  }

  private close(): void {
    this.failedProbe = undefined
    this.forget()
    this.circuit.close()
  }

  private count({ name, caller }: Asker, ending: Ending, isResend: boolean): boolean {
    const now = this.options.clock()
    if (ending === 'answered') {
      this.votes.addAnswer(name, now)
      this.callers.clear(caller, now)
      return false
    }
    if (ending === 'unconnected') return false
    this.votes.addFailure(name, now)
    if (this.votes.isAgainst(now)) this.open()
    else if (!isResend) return this.callers.add(caller, now)
    return false
  }

  private countOwn(ending: Ending, isResend: boolean): void {
    if (ending === 'answered') this.own = 0
    else if (!isResend && ++this.own >= failuresInRow) this.open()
  }

  /** What led to this counts no more. */
  private forget(): void {
    this.votes = new AskerVotes()
    this.unconnected = 0
    this.own = 0
  }
}
