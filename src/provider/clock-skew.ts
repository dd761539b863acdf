/** How far a provider's clock is from this machine's, by the `Date` of its latest response (RFC 9110, section 6.6.1). */
import { maxSkewMs } from '../core/same-swap.ts'

export class ClockSkew {
  private latestMs = 0

  /** `date`: the header of a response that has just come. What is no date changes nothing. */
  read(date: string | undefined): void {
    const serverTime = date === undefined ? Number.NaN : Date.parse(date)
    if (!Number.isNaN(serverTime)) this.latestMs = serverTime - Date.now()
  }

  /** Positive: the provider's clock is ahead. At most a quarter of an hour: a clock that is further off proves nothing. */
  get milliseconds(): number {
    return Math.max(-maxSkewMs, Math.min(maxSkewMs, this.latestMs))
  }
}
