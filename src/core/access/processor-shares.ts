/** Who takes most of the processor: of a process that is overloaded its requests are refused first (docs/faults.md, overload). */
import type { SteadyClock } from '../clock.ts'

const slotMs = 100
/** A second. */
const slotCount = 10
/** Of what the process took in that second. */
const largeShare = 1 / 5
/** A process that took less is not overloaded by anybody's work. */
const leastMicroseconds = 250_000
/** For how long it counts that somebody had a large share: the load is measured over as long. */
const rememberedMs = 2_000
/** A bound on memory. What further ones take is not counted: so many have no large share. */
const maxIdentities = 1_000

interface Slot {
  /** Its number since the clock began. */
  readonly number: number
  /** Of the process, when it began. */
  readonly microseconds: number
  readonly byIdentity: Map<string, number>
}

/** `microseconds`: the CPU time of the process's thread so far. */
export class ProcessorShares {
  private readonly clock: SteadyClock
  private readonly microseconds: () => number
  private slots: readonly Slot[] = []
  private largeAt = Number.NEGATIVE_INFINITY

  constructor(clock: SteadyClock, microseconds: () => number) {
    this.clock = clock
    this.microseconds = microseconds
  }

  count(identity: string, microseconds: number): void {
    const { byIdentity } = this.slot()
    if (!byIdentity.has(identity) && byIdentity.size >= maxIdentities) return
    byIdentity.set(identity, (byIdentity.get(identity) ?? 0) + microseconds)
    if (this.isLarge(identity)) this.largeAt = this.clock()
  }

  /** Whether the identity took more than a fifth of the last second. */
  isLarge(identity: string): boolean {
    this.slot()
    const own = this.slots.reduce((sum, { byIdentity }) => sum + (byIdentity.get(identity) ?? 0), 0)
    if (own === 0) return false
    const all = this.microseconds() - (this.slots[0]?.microseconds ?? 0)
    return own > largeShare * Math.max(all, leastMicroseconds)
  }

  /** Whether any identity did lately. */
  get hadLarge(): boolean {
    return this.clock() - this.largeAt < rememberedMs
  }

  private slot(): Slot {
    const number = Math.floor(this.clock() / slotMs)
    const last = this.slots.at(-1)
    if (last?.number === number) return last
    const slot = { number, microseconds: this.microseconds(), byIdentity: new Map<string, number>() }
    this.slots = [...this.slots.filter((one) => one.number > number - slotCount), slot]
    return slot
  }
}
