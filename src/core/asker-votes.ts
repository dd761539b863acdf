import { BoundedMap } from './bounded-map.ts'
import { RecentCount } from './recent-count.ts'

/** Milliseconds. */
const window = 30_000
/** A bound on memory. */
const mostAskers = 20_000

interface Vote {
  answeredAt: number
  /** What `RecentCount` returned. */
  called?: number | undefined
  failed?: number | undefined
}

/** How those fare who called in the last 30 seconds. It counts askers, not calls, and a call costs the same however many there are. */
export class AskerVotes {
  private readonly votes = new BoundedMap<Vote>({ maxEntries: mostAskers, lifetimeMs: window })
  private readonly callers = new RecentCount(window / 1000)
  private readonly failing = new RecentCount(window / 1000)

  addAnswer(asker: string, now: number): void {
    const vote = this.voteOf(asker, now)
    vote.answeredAt = now
    if (vote.failed === undefined) return
    this.failing.remove(now, vote.failed)
    vote.failed = undefined
  }

  addFailure(asker: string, now: number): void {
    const vote = this.voteOf(asker, now)
    if (now - vote.answeredAt >= window) vote.failed = this.failing.add(now, vote.failed)
  }

  /** Whether at least two askers, and more than half of all, met only failures. */
  isAgainst(now: number): boolean {
    const failing = this.failing.count(now)
    return failing >= 2 && failing * 2 > this.callers.count(now)
  }

  private voteOf(asker: string, now: number): Vote {
    const vote = this.votes.get(asker, now) ?? this.votes.set(asker, { answeredAt: Number.NEGATIVE_INFINITY }, now)
    vote.called = this.callers.add(now, vote.called)
    return vote
  }
}
