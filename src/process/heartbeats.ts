/**
 * Which workers hang, or have ended. The others accept the connections of such a worker: the system goes on giving its socket its share.
 * One that hangs is killed in the end. Silence is counted in the beats of this process, so that a machine that stood still counts none.
 */

export interface ListeningWorker<W> {
  /** Accepts on the listening socket of `other` too. */
  accept(other: W): void
  /** Leaves the socket of `other` to it again. */
  release(other: W): void
  kill(): void
}

interface Heartbeat<W> {
  missed: number
  /** Its socket waits for a successor. */
  hasEnded: boolean
  /** Those that accept its connections. */
  readonly acceptors: Set<W>
}

/** Milliseconds between two beats of a process. */
export const beatMs = 250
const silentAfterMs = 5_000
const killMarginMs = 5_000
/** So long the place of a killed worker may stay empty before another one is killed. */
const replacementMs = 60_000

const isSilent = ({ missed }: Heartbeat<unknown>): boolean => missed * beatMs > silentAfterMs

export class Heartbeats<W extends ListeningWorker<W>> {
  private readonly expected: number
  private readonly heartbeats = new Map<W, Heartbeat<W>>()
  private beatsSinceKill = Number.POSITIVE_INFINITY

  /** `expected`: how many there are while none is missing. */
  constructor(expected: number) {
    this.expected = expected
  }

  /** It listens: on the socket of `predecessor`, if it has one. */
  add(worker: W, predecessor?: W): void {
    if (predecessor) this.delete(predecessor)
    this.heartbeats.set(worker, { missed: 0, hasEnded: false, acceptors: new Set() })
  }

  /** It has ended, and its socket stays. */
  end(worker: W): void {
    const heartbeat = this.heartbeats.get(worker)
    if (!heartbeat) return
    heartbeat.hasEnded = true
    for (const { acceptors } of this.heartbeats.values()) acceptors.delete(worker)
    this.share(worker)
  }

  /** It listens no more. */
  delete(worker: W): void {
    this.release(worker)
    this.heartbeats.delete(worker)
    for (const { acceptors } of this.heartbeats.values()) acceptors.delete(worker)
  }

  /** The worker has sent something. */
  hear(worker: W): void {
    const heartbeat = this.heartbeats.get(worker)
    if (!heartbeat || heartbeat.hasEnded) return
    heartbeat.missed = 0
    this.release(worker)
  }

  get beating(): readonly W[] {
    return this.workers((heartbeat) => !heartbeat.hasEnded && !isSilent(heartbeat))
  }

  get silent(): readonly W[] {
    return this.workers((heartbeat) => !heartbeat.hasEnded && isSilent(heartbeat))
  }

  get ended(): readonly W[] {
    return this.workers(({ hasEnded }) => hasEnded)
  }

  /** Each `beatMs`. `longestWorkMs`: a request takes no longer. Returns the workers that are silent since this beat. */
  beat(longestWorkMs: number): readonly W[] {
    this.beatsSinceKill++
    const before = new Set(this.silent)
    for (const heartbeat of this.heartbeats.values()) heartbeat.missed++
    for (const worker of [...this.silent, ...this.ended]) this.share(worker)
    this.killLongestSilent(longestWorkMs + killMarginMs)
    return this.silent.filter((worker) => !before.has(worker))
  }

  private workers(is: (heartbeat: Heartbeat<W>) => boolean): readonly W[] {
    return [...this.heartbeats].filter(([, heartbeat]) => is(heartbeat)).map(([worker]) => worker)
  }

  private share(absent: W): void {
    const acceptors = this.heartbeats.get(absent)?.acceptors
    for (const worker of this.beating) {
      if (acceptors?.has(worker)) continue
      acceptors?.add(worker)
      worker.accept(absent)
    }
  }

  private release(worker: W): void {
    const acceptors = this.heartbeats.get(worker)?.acceptors
    for (const acceptor of acceptors ?? []) acceptor.release(worker)
    acceptors?.clear()
  }

  /** One at a time: not before the place of the last one is taken again. */
  private killLongestSilent(afterMs: number): void {
    const running = [...this.heartbeats].filter(([, { hasEnded }]) => !hasEnded)
    if (running.length < this.expected && this.beatsSinceKill * beatMs < replacementMs) return
    const [longest] = running.toSorted(([, one], [, other]) => other.missed - one.missed)
    if (!longest || longest[1].missed * beatMs <= afterMs) return
    this.beatsSinceKill = 0
    longest[0].kill()
  }
}
